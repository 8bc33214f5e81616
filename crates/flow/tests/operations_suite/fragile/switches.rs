//! What a test makes of it.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;
use seckill_queue::Verdicts;
use seckill_sale::ActivityId;
use tokio::sync::{Notify, RwLock, RwLockWriteGuard};

use super::Fragile;
use crate::engine::Handle;

/// Writes allowed where none is to fail.
const UNLIMITED: i64 = i64::MAX;

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
            ends_holds: Mutex::new(None),
            told: AtomicU64::new(0),
            records: Mutex::new(None),
            pages_read: AtomicBool::new(false),
            meanwhile: Mutex::new(None),
            looked: Mutex::new(None),
            overtaken: Mutex::new(None),
            opening: Mutex::new(None),
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

    pub(super) fn stock_write(&self) -> Result<(), seckill_stock::Error> {
        self.write().then_some(()).ok_or(seckill_stock::Error::Unavailable)
    }

    pub(super) fn queue_write(&self) -> Result<(), seckill_queue::Error> {
        self.write().then_some(()).ok_or(seckill_queue::Error::Unavailable)
    }
}
