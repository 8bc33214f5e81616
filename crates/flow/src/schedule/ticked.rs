//! What a tick did and what went wrong with it.

use std::fmt;

use seckill_sale::{ActivityId, EpochMs};

use crate::Error;

/// A part of the scheduler's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Reading the list of sales.
    Catalogue,
    /// Rules into the store, resuming.
    Terms,
    /// States for sales that begin.
    Preheat,
    /// States that their store has lost, or doubts.
    Healing,
    /// Closing and returning units.
    Close,
    /// Dropping states.
    Forget,
    /// Recurring sales.
    Rounds,
    /// Movements into the store.
    Movements,
    /// Dead letters.
    DeadLetters,
    /// Orders that were not paid in time.
    Expiry,
}

/// What went wrong with a part; the others were done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The part.
    pub part: Part,
    /// The sale; none where it concerns none or many.
    pub activity: Option<ActivityId>,
    /// What went wrong.
    pub reason: String,
}

/// What a tick did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ticked {
    /// Sales whose state was created.
    pub preheated: Vec<ActivityId>,
    /// Sales whose state was lost or doubtful, and can be used again.
    pub healed: Vec<ActivityId>,
    /// Sales that went on by their own date.
    pub resumed: Vec<ActivityId>,
    /// Sales that were closed because their window is over.
    pub closed: Vec<ActivityId>,
    /// Sales that the store dropped.
    pub forgotten: Vec<ActivityId>,
    /// Units returned to products.
    pub units_returned: u64,
    /// Rounds made.
    pub rounds_made: u64,
    /// Movements applied.
    pub movements_applied: u64,
    /// Dead letters brought in line or discarded.
    pub dead_letters: u64,
    /// Orders expired.
    pub orders_expired: u64,
    /// What went wrong.
    pub failures: Vec<Failure>,
    /// When the next tick is wanted.
    pub next_at: EpochMs,
}

impl Ticked {
    pub(super) fn failed(&mut self, part: Part, activity: Option<ActivityId>, error: &dyn fmt::Display) {
        let reason = error.to_string();
        tracing::warn!(
            ?part,
            activity = activity.map(tracing::field::display),
            reason,
            "the scheduler could not do a part; it tries again"
        );
        self.failures.push(Failure { part, activity, reason });
    }

    /// What was logged before and has not changed since.
    pub(super) fn failed_again(&mut self, part: Part, activity: ActivityId, reason: &str) {
        self.failures.push(Failure {
            part,
            activity: Some(activity),
            reason: reason.to_owned(),
        });
    }

    /// The ledger tells of an outage itself, once, and not at each tick for each part.
    fn kept_out(&mut self, part: Part, activity: Option<ActivityId>, reason: String) {
        tracing::debug!(
            ?part,
            activity = activity.map(tracing::field::display),
            reason,
            "the scheduler waits for the ledger"
        );
        self.failures.push(Failure { part, activity, reason });
    }

    /// The value, or none with the failure noted.
    pub(super) fn note<T>(&mut self, part: Part, activity: Option<ActivityId>, outcome: Result<T, Error>) -> Option<T> {
        let told = |error: Error| match &error {
            Error::Ledger(outage) if outage.is_outage() => self.kept_out(part, activity, error.to_string()),
            _ => self.failed(part, activity, &error),
        };
        outcome.map_err(told).ok()
    }

    pub(super) fn wanted_at(&mut self, now: EpochMs, moment: EpochMs) {
        if now < moment {
            self.next_at = self.next_at.min(moment);
        }
    }
}
