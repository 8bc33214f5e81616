//! What buyers have heard lately, and what of it is counted over the whole run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::heard::{Heard, Who};

/// Answers that are kept at most: those of a turn, at the largest rate that is offered.
const HEARD_MAX: usize = 200_000;
/// Code of an answer after which nobody knows whether there is a ticket.
const OUTCOME_UNKNOWN: i32 = 50_302;

/// Answers of a whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All of them.
    pub answers: u64,
    /// New buyers who got a ticket.
    pub accepted: u64,
    /// New buyers who may have one: no answer, or an outcome that the node did not know.
    pub unknown: u64,
    /// Requests without an answer.
    pub unanswered: u64,
}

#[derive(Debug, Default)]
struct Inner {
    heard: Vec<Heard>,
    counts: Counts,
}

/// The log. Buyers write it, whoever turns switches reads it.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Inner>);

impl Log {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, heard: Heard) {
        let mut inner = self.inner();
        inner.counts.answers += 1;
        if heard.who == Who::New {
            inner.counts.accepted += u64::from(heard.said.code == 0);
            inner.counts.unknown += u64::from(heard.said.code == OUTCOME_UNKNOWN);
        }
        if inner.heard.len() < HEARD_MAX {
            inner.heard.push(heard);
        }
    }

    pub(super) fn note_unanswered(&self, who: Who) {
        let mut inner = self.inner();
        inner.counts.unanswered += 1;
        inner.counts.unknown += u64::from(who == Who::New);
    }

    /// Forgets what was heard, but not how much of it there was.
    pub(super) fn begin(&self) {
        self.inner().heard.clear();
    }

    /// What was heard since the beginning, in the order in which it came.
    pub(super) fn read<T>(&self, read: impl FnOnce(&[Heard]) -> T) -> T {
        read(&self.inner().heard)
    }

    pub(super) fn counts(&self) -> Counts {
        self.inner().counts
    }
}
