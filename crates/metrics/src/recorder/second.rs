//! The last second of a node, from counts that only grow.

use std::collections::{HashMap, VecDeque};

use crate::durations::{BOUNDS_NS, BUCKETS};
use crate::{Metrics, OUTCOMES, Outcomes};

use super::Facts;

/// Readings that are kept: a second and the one before it.
const READINGS_MAX: usize = 11;

/// Everything counted up to one moment.
#[derive(Clone)]
pub(super) struct Reading {
    pub(super) at_ms: i64,
    pub(super) requests: u64,
    pub(super) orders: u64,
    pub(super) outcomes: Outcomes,
    pub(super) latency: [u64; BUCKETS],
    pub(super) in_flight: u64,
    pub(super) activities: HashMap<u64, OfActivity>,
}

/// Of one activity.
#[derive(Clone, Copy)]
pub(super) struct OfActivity {
    pub(super) outcomes: Outcomes,
    pub(super) orders: u64,
    pub(super) stock_left: Option<u64>,
}

impl Reading {
    pub(super) fn take(metrics: &Metrics, facts: &Facts<'_>) -> Self {
        let activities = facts.activities.iter().filter_map(|activity| {
            let of_activity = OfActivity {
                outcomes: metrics.purchases.of(activity.id)?,
                orders: activity.orders_written,
                stock_left: activity.stock_left,
            };
            Some((activity.id, of_activity))
        });
        Self {
            at_ms: facts.now_ms,
            requests: metrics.http_request_duration.count(),
            orders: facts.orders_written,
            outcomes: metrics.purchases.totals(),
            latency: metrics.http_request_duration.purchases(),
            in_flight: metrics.in_flight.now(),
            activities: activities.collect(),
        }
    }

    /// What was counted since an earlier reading.
    pub(super) fn since(&self, earlier: &Self) -> Second {
        let activities = self.activities.iter().map(|(&id, now)| {
            let before = earlier.activities.get(&id);
            ActivitySecond {
                id,
                // Who was not followed then begins at what his place stood at.
                outcomes: before.map_or([0; OUTCOMES], |before| grown(now.outcomes, before.outcomes)),
                orders: before.map_or(0, |before| now.orders.saturating_sub(before.orders)),
                stock_left: now.stock_left,
            }
        });
        let latency = grown(self.latency, earlier.latency);
        let bounds = BOUNDS_NS.map(|bound| bound / 1_000);
        let bounds = bounds.into_iter().chain([u64::from(u32::MAX)]);
        let mut activities: Vec<_> = activities.collect();
        activities.sort_unstable_by_key(|activity| activity.id);
        Second {
            over_ms: self.at_ms.saturating_sub(earlier.at_ms).unsigned_abs(),
            requests: self.requests.saturating_sub(earlier.requests),
            orders: self.orders.saturating_sub(earlier.orders),
            outcomes: grown(self.outcomes, earlier.outcomes),
            latency_us: bounds.zip(latency).filter(|(_, count)| *count != 0).collect(),
            in_flight: self.in_flight,
            activities,
        }
    }
}

fn grown<const N: usize>(now: [u64; N], before: [u64; N]) -> [u64; N] {
    std::array::from_fn(|at| now[at].saturating_sub(before[at]))
}

/// What a node did within a second, or as much of it as it has been up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Second {
    /// How long it really was, in milliseconds; 0 where nothing is known yet.
    pub over_ms: u64,
    /// Requests answered on the public port.
    pub requests: u64,
    /// Orders written.
    pub orders: u64,
    /// Purchase requests by how they ended.
    pub outcomes: Outcomes,
    /// How long purchases took: upper bound of a bucket in microseconds, and how many fell into it. Without empty buckets; see
    /// [`crate::percentile_us`].
    pub latency_us: Vec<(u64, u64)>,
    /// Requests being answered at the end of it.
    pub in_flight: u64,
    /// The same by activity, in the order of their ids.
    pub activities: Vec<ActivitySecond>,
}

/// What a node did for one activity within a second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivitySecond {
    /// Its id.
    pub id: u64,
    /// Purchase requests by how they ended.
    pub outcomes: Outcomes,
    /// Orders written.
    pub orders: u64,
    /// Units left; none where it has no state in the store.
    pub stock_left: Option<u64>,
}

/// The newest readings.
#[derive(Default)]
pub(super) struct Readings(VecDeque<Reading>);

impl Readings {
    pub(super) fn newest(&self) -> Option<&Reading> {
        self.0.back()
    }

    pub(super) fn push(&mut self, reading: Reading) {
        if READINGS_MAX <= self.0.len() {
            self.0.pop_front();
        }
        self.0.push_back(reading);
    }

    pub(super) fn second(&self) -> Second {
        match (self.0.front(), self.0.back()) {
            (Some(first), Some(last)) => last.since(first),
            _ => Second::default(),
        }
    }
}
