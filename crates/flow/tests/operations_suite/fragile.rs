//! The engine behind a switch: after so many writes every further one fails, as if the process had died between two steps.

mod brake;
mod queue;

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use seckill_queue::{Queue, Verdicts};
use seckill_sale::{ActivityId, Buyer, Claim, EpochMs, Figures, Terms, Ticket, UserId};
use seckill_stock::{Answer, Glance, OpenOutcome, Opening, Rebase, Stock};
use tokio::sync::{Notify, RwLock, RwLockWriteGuard};

use crate::engine::Handle;

/// Writes allowed where none is to fail.
const UNLIMITED: i64 = i64::MAX;

type Meanwhile = Pin<Box<dyn Future<Output = ()> + Send>>;

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
    told: AtomicU64,
    records: Mutex<Option<Verdicts>>,
    pages_read: AtomicBool,
    meanwhile: Mutex<Option<Meanwhile>>,
}

impl Fragile {
    pub(crate) const fn new(engine: Handle) -> Self {
        Self {
            engine,
            writes_left: AtomicI64::new(UNLIMITED),
            refused: AtomicI64::new(0),
            changes: RwLock::const_new(()),
            changed: AtomicBool::new(false),
            stalls: AtomicBool::new(false),
            stalled: Notify::const_new(),
            forgets: Mutex::new(None),
            loses_holds: AtomicBool::new(false),
            told: AtomicU64::new(0),
            records: Mutex::new(None),
            pages_read: AtomicBool::new(false),
            meanwhile: Mutex::new(None),
        }
    }

    /// Lets `writes` more pass, then none.
    pub(crate) fn allow(&self, writes: i64) {
        self.refused.store(0, Ordering::SeqCst);
        self.writes_left.store(writes, Ordering::SeqCst);
    }

    /// Lets everything pass again; says whether anything was refused meanwhile.
    pub(crate) fn heal(&self) -> bool {
        self.writes_left.store(UNLIMITED, Ordering::SeqCst);
        self.refused.swap(0, Ordering::SeqCst) != 0
    }

    /// Lets every change of rules wait until the guard is dropped.
    pub(crate) async fn hold_changes(&self) -> RwLockWriteGuard<'_, ()> {
        self.changes.write().await
    }

    /// Lets whoever asks for figures after the next change of rules wait for ever; returns when somebody does.
    pub(crate) async fn stall_after_a_change(&self) {
        self.stalls.store(true, Ordering::SeqCst);
        self.stalled.notified().await;
        self.stalls.store(false, Ordering::SeqCst);
    }

    /// Has the scheduler forget the sale just before the next buyer is asked for.
    pub(crate) fn forget_meanwhile(&self, activity: ActivityId) {
        *self.forgets.lock() = Some(activity);
    }

    /// Has a worker record this just before buyers are read next.
    pub(crate) fn record_meanwhile(&self, verdicts: Verdicts) {
        *self.records.lock() = Some(verdicts);
    }

    /// Has this happen once buyers were read, just before figures are.
    pub(crate) fn happens_before_figures(&self, meanwhile: impl Future<Output = ()> + Send + 'static) {
        *self.meanwhile.lock() = Some(Box::pin(meanwhile));
    }

    fn write(&self) -> bool {
        let allowed = 0 < self.writes_left.fetch_sub(1, Ordering::SeqCst);
        if !allowed {
            self.refused.fetch_add(1, Ordering::SeqCst);
        }
        allowed
    }

    fn stock_write(&self) -> Result<(), seckill_stock::Error> {
        self.write().then_some(()).ok_or(seckill_stock::Error::Unavailable)
    }

    fn queue_write(&self) -> Result<(), seckill_queue::Error> {
        self.write().then_some(()).ok_or(seckill_queue::Error::Unavailable)
    }
}

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
        self.engine.open(opening).await
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
    fn set_backlog_max(&self, tickets: u64) {
        self.engine.set_backlog_max(tickets);
    }
}
