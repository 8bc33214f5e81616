//! The engine behind a switch: after so many writes every further one fails, as if the process had died between two steps.

mod brake;
mod queue;
mod switches;

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use seckill_queue::{Queue, Verdicts};
use seckill_sale::{
    ActivityId, Buyer, Claim, Epoch, EpochMs, Figures, Restored, Shards, SharedRate, Terms, Ticket, UserId,
};
use seckill_stock::{
    Answer, Condition, Confirmed, Examined, GivenUp, Glance, OpenOutcome, Opening, Rebase, Remedy, Stock,
};
use tokio::sync::{Notify, RwLock};

use crate::engine::Handle;

pub(crate) type Meanwhile = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Key of a rate of which no permit is left.
pub(crate) const USED_UP: &str = "used-up";

pub(crate) struct Fragile {
    engine: Handle,
    writes_left: AtomicI64,
    refused: AtomicI64,
    changes: RwLock<()>,
    changed: AtomicBool,
    stalls: AtomicBool,
    stalled: Notify,
    forgets: Mutex<Option<ActivityId>>,
    loses_holds: AtomicBool,
    /// Another process ends each hold at once, behind these rules.
    pub(crate) ends_holds: Mutex<Option<Terms>>,
    told: AtomicU64,
    records: Mutex<Option<Verdicts>>,
    pages_read: AtomicBool,
    meanwhile: Mutex<Option<Meanwhile>>,
    /// Happens once somebody has looked whether the state can be used.
    pub(crate) looked: Mutex<Option<Meanwhile>>,
    /// Happens once a state was given up, before the next is built.
    pub(crate) overtaken: Mutex<Option<Meanwhile>>,
    /// Happens just before the next state is opened.
    pub(crate) opening: Mutex<Option<Meanwhile>>,
}

impl Examined for Fragile {}

#[async_trait]
impl Stock for Fragile {
    fn now(&self) -> EpochMs {
        self.engine.now()
    }
    fn clock_uncertainty_ms(&self) -> i64 {
        self.engine.clock_uncertainty_ms()
    }
    fn glance(&self, activity: ActivityId, user: &UserId) -> Glance {
        self.engine.glance(activity, user)
    }
    fn stock_left(&self, activity: ActivityId) -> Option<u64> {
        self.engine.stock_left(activity)
    }
    fn settled_up_to(&self, ticket: Ticket) -> Option<u64> {
        self.engine.settled_up_to(ticket)
    }
    async fn claim(&self, batch: Vec<Claim>) -> Vec<Answer> {
        self.engine.claim(batch).await
    }
    async fn buyer(&self, activity: ActivityId, user: &UserId) -> Result<Option<Buyer>, seckill_stock::Error> {
        let forgets = self.forgets.lock().take();
        if let Some(forgotten) = forgets {
            self.engine.forget(forgotten).await?;
        }
        self.engine.buyer(activity, user).await
    }
    async fn figures(&self, activity: ActivityId) -> Result<Option<Figures>, seckill_stock::Error> {
        if self.changed.swap(false, Ordering::SeqCst) && self.stalls.load(Ordering::SeqCst) {
            self.stalled.notify_one();
            std::future::pending::<()>().await;
        }
        let meanwhile = self
            .meanwhile
            .lock()
            .take_if(|_| self.pages_read.load(Ordering::SeqCst));
        if let Some(meanwhile) = meanwhile {
            meanwhile.await;
        }
        self.engine.figures(activity).await
    }
    async fn activities(&self) -> Result<Vec<ActivityId>, seckill_stock::Error> {
        self.engine.activities().await
    }
    async fn open(&self, opening: Opening) -> Result<OpenOutcome, seckill_stock::Error> {
        self.stock_write()?;
        let meanwhile = self.opening.lock().take();
        if let Some(meanwhile) = meanwhile {
            meanwhile.await;
        }
        self.engine.open(opening).await
    }
    async fn condition(&self, activity: ActivityId) -> Result<Condition, seckill_stock::Error> {
        let condition = self.engine.condition(activity).await;
        let looked = self.looked.lock().take();
        if let Some(looked) = looked {
            looked.await;
        }
        condition
    }
    async fn can_heal(&self, activity: ActivityId, shards: Shards, by: Remedy) -> Result<(), seckill_stock::Error> {
        self.engine.can_heal(activity, shards, by).await
    }
    fn last_seen(&self, activity: ActivityId) -> Option<Figures> {
        self.engine.last_seen(activity)
    }
    async fn confirm(&self, confirmed: Confirmed) -> Result<bool, seckill_stock::Error> {
        self.stock_write()?;
        self.engine.confirm(confirmed).await
    }
    async fn give_up(
        &self,
        activity: ActivityId,
        shards: Shards,
        epoch: Epoch,
    ) -> Result<GivenUp, seckill_stock::Error> {
        let given_up = self.engine.give_up(activity, shards, epoch).await;
        let overtaken = self.overtaken.lock().take();
        if let Some(overtaken) = overtaken {
            overtaken.await;
        }
        given_up
    }
    fn set_created(&self, created: std::collections::BTreeMap<ActivityId, EpochMs>) {
        self.engine.set_created(created);
    }
    async fn give_up_another(&self, activity: ActivityId) -> Result<Vec<Restored>, seckill_stock::Error> {
        self.stock_write()?;
        self.engine.give_up_another(activity).await
    }
    async fn rebase(&self, rebase: Rebase) -> Result<(), seckill_stock::Error> {
        self.stock_write()?;
        self.engine.rebase(rebase).await
    }
    async fn change(&self, terms: Terms) -> Result<(), seckill_stock::Error> {
        self.stock_write()?;
        let _passes = self.changes.read().await;
        self.engine.change(terms).await?;
        self.changed.store(true, Ordering::SeqCst);
        Ok(())
    }
    async fn apply_movement(
        &self,
        activity: ActivityId,
        movement: u64,
        delta: i64,
    ) -> Result<(), seckill_stock::Error> {
        self.stock_write()?;
        self.engine.apply_movement(activity, movement, delta).await
    }
    async fn buyers_page(&self, activity: ActivityId, page: u32) -> Result<Option<Vec<Buyer>>, seckill_stock::Error> {
        let records = self.records.lock().take();
        if let Some(verdicts) = records {
            self.engine.record(verdicts).await.expect("recorded");
        }
        self.pages_read.store(true, Ordering::SeqCst);
        self.engine.buyers_page(activity, page).await
    }
    async fn forget(&self, activity: ActivityId) -> Result<(), seckill_stock::Error> {
        self.stock_write()?;
        self.engine.forget(activity).await
    }
    async fn take_of_rate(&self, rate: &SharedRate) -> Result<Option<u64>, seckill_stock::Error> {
        Ok((rate.key == USED_UP).then_some(1_000))
    }
    async fn permit(&self, key: [u8; 16], max: u32, until: EpochMs) -> Result<bool, seckill_stock::Error> {
        self.stock_write()?;
        self.engine.permit(key, max, until).await
    }
    fn set_backlog_max(&self, tickets: u64) {
        self.engine.set_backlog_max(tickets);
    }
    fn set_held_back(&self, sales: std::collections::BTreeSet<ActivityId>) {
        self.engine.set_held_back(sales);
    }
}
