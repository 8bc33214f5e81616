//! Lists of those who may buy, passed on.

use std::sync::Arc;

use async_trait::async_trait;
use seckill_ledger::{Context, Eligible, EligibleList, Error};
use seckill_sale::{Activity, ActivityId};

use super::SimLedger;

#[async_trait]
impl Eligible for SimLedger {
    async fn set_eligible_list(
        &self,
        id: ActivityId,
        list: Arc<EligibleList>,
        context: Context,
    ) -> Result<Activity, Error> {
        self.call(self.inner.set_eligible_list(id, list, context)).await
    }

    async fn remove_eligible_list(&self, id: ActivityId, context: Context) -> Result<Activity, Error> {
        self.call(self.inner.remove_eligible_list(id, context)).await
    }

    async fn eligible_list(&self, id: ActivityId, version: u64) -> Result<Option<EligibleList>, Error> {
        self.call(self.inner.eligible_list(id, version)).await
    }

    async fn eligible_versions(&self) -> Result<Vec<(ActivityId, u64)>, Error> {
        self.call(self.inner.eligible_versions()).await
    }
}
