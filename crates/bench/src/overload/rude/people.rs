//! What came of the people of a storm.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::outcome::{LoadReport, Percentiles};
use crate::tally::Tally;

/// Longer waits are recorded as this one.
const WAIT_US_MAX: u64 = 600_000_000;

/// What came of the people of a storm.
#[derive(Debug, Clone, Serialize)]
pub struct People {
    /// How many wanted to come.
    pub wanted: u64,
    /// How many came; the others waited for a free connection until the end.
    pub came: u64,
    /// What they sent, with what they left unanswered behind.
    pub requests: u64,
    /// Requests over people who came.
    pub requests_each: f64,
    /// How many were accepted.
    pub accepted: u64,
    /// How many were still trying when all left.
    pub left: u64,
    /// What the accepted waited, from the first of their own requests.
    pub accepted_after: Percentiles,
}

/// What all connections have seen so far.
pub(super) struct Seen {
    pub(super) tally: Tally,
    pub(super) came: u64,
    pub(super) requests: u64,
    pub(super) left: u64,
    accepted_after: Histogram<u64>,
}

impl Seen {
    pub(super) fn from(started: Instant) -> Self {
        let waits = Histogram::new_with_bounds(1, WAIT_US_MAX, 3).expect("the bounds are constants that fit");
        Self {
            tally: Tally::new(started),
            came: 0,
            requests: 0,
            left: 0,
            accepted_after: waits,
        }
    }

    pub(super) fn accept(&mut self, waited: Duration) {
        let us = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX);
        self.accepted_after.saturating_record(us);
    }

    pub(super) fn report(self, wanted: usize) -> (LoadReport, People) {
        let people = People {
            wanted: wanted as u64,
            came: self.came,
            requests: self.requests,
            requests_each: self.requests as f64 / self.came.max(1) as f64,
            accepted: self.accepted_after.len(),
            left: self.left,
            accepted_after: (&self.accepted_after).into(),
        };
        (self.tally.report(), people)
    }
}
