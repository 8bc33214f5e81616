//! What all workers of a process have done, counted once a batch.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64};

use parking_lot::Mutex;
use seckill_sale::ActivityId;

/// What all workers have done, for metrics.
#[derive(Debug, Default)]
pub struct WorkerCounts {
    /// Orders written.
    pub orders_written: AtomicU64,
    /// Tickets failed because the ledger had no unit.
    pub oversold: AtomicU64,
    /// Tickets parked.
    pub buried: AtomicU64,
    /// Tickets sent back for another attempt.
    pub retried: AtomicU64,
    /// Panics caught.
    pub panics: AtomicU64,
    /// Workers running now.
    pub running: AtomicU64,
    /// When the last batch was recorded, in epoch milliseconds.
    pub last_batch_at: AtomicI64,
    /// Orders written by activity, until [`WorkerCounts::forget`].
    pub(crate) of_activities: Mutex<HashMap<ActivityId, u64>>,
}

impl WorkerCounts {
    /// Orders written of one activity.
    #[must_use]
    pub fn orders_of(&self, activity: ActivityId) -> u64 {
        self.of_activities.lock().get(&activity).copied().unwrap_or(0)
    }

    /// Drops the counts of all activities that are not kept, such as those that are over.
    pub fn forget(&self, keep: impl Fn(ActivityId) -> bool) {
        self.of_activities.lock().retain(|activity, _| keep(*activity));
    }
}
