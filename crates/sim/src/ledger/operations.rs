//! Switches, blocks, schedules, audit rows and the installation, passed on.

use std::sync::Arc;

use async_trait::async_trait;
use seckill_ledger::{
    AuditRow, Block, Catalog as _, Context, Error, Examined, Installation, NewActivity, NewBlock, NewSchedule,
    Operations, Page, PageRequest, Schedule, StoredSwitches, Twice,
};
use seckill_sale::{Activity, ActivityId, Clock, EpochMs, Finding, InstallationId};

use super::SimLedger;
use crate::fault::Fault;

#[async_trait]
impl Operations for SimLedger {
    async fn ping(&self) -> Result<(), Error> {
        self.call(self.inner.ping()).await
    }

    async fn switches(&self) -> Result<Option<StoredSwitches>, Error> {
        self.call(self.inner.switches()).await
    }

    async fn set_switches(&self, json: String, expected: u64, context: Context) -> Result<u64, Error> {
        self.call(self.inner.set_switches(json, expected, context)).await
    }

    async fn blocks(&self, now: EpochMs) -> Result<Vec<Block>, Error> {
        self.call(self.inner.blocks(now)).await
    }

    async fn add_block(&self, block: NewBlock, twice: Twice, context: Context) -> Result<Block, Error> {
        self.call(self.inner.add_block(block, twice, context)).await
    }

    async fn remove_block(&self, id: u64, context: Context) -> Result<(), Error> {
        self.call(self.inner.remove_block(id, context)).await
    }

    async fn create_schedule(&self, schedule: NewSchedule, context: Context) -> Result<Schedule, Error> {
        self.call(self.inner.create_schedule(schedule, context)).await
    }

    async fn schedules(&self) -> Result<Vec<Schedule>, Error> {
        self.call(self.inner.schedules()).await
    }

    async fn set_schedule_enabled(&self, id: u64, enabled: bool, context: Context) -> Result<Schedule, Error> {
        self.call(self.inner.set_schedule_enabled(id, enabled, context)).await
    }

    async fn make_round(
        &self,
        id: u64,
        round: EpochMs,
        activity: NewActivity,
        context: Context,
    ) -> Result<Activity, Error> {
        let again = (activity.clone(), context.clone());
        let made = self.call(self.inner.make_round(id, round, activity, context)).await;
        if made.is_ok() && self.weather.strikes(Fault::RoundTwice, 1) {
            self.inner.create_activity(again.0, again.1).await?;
        }
        made
    }

    async fn audit_rows(&self, page: PageRequest) -> Result<Page<AuditRow>, Error> {
        self.call(self.inner.audit_rows(page)).await
    }

    async fn add_audit_row(
        &self,
        action: String,
        subject: String,
        before: String,
        after: String,
        context: Context,
    ) -> Result<(), Error> {
        let work = self.inner.add_audit_row(action, subject, before, after, context);
        self.call(work).await
    }

    async fn installation(&self) -> Result<Installation, Error> {
        self.call(self.inner.installation()).await
    }

    async fn set_installation(&self, id: InstallationId, settled_batch_min: u64) -> Result<(), Error> {
        self.call(self.inner.set_installation(id, settled_batch_min)).await
    }
}

#[async_trait]
impl Examined for SimLedger {
    async fn examine(&self, clock: Arc<dyn Clock>, sale: Option<ActivityId>) -> Vec<Finding> {
        self.inner.examine(clock, sale).await
    }
}
