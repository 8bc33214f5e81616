//! The flight recorder: what a node did in every tenth of a second of a sale, from two minutes before its start to its end.
//!
//! Nothing is counted for it: every 100 ms somebody calls [`Recorder::sample`], which reads the counts that requests make anyway. It keeps
//! the last second of the node for whoever watches live, and a recording of each sale, of bounded length, for whoever asks later: at most
//! [`RECORDINGS_MAX`] of [`Recording::BYTES_MAX`] bytes each, 17.5 MB. A short sale takes less: 10 kB a second up to its tenth minute.

mod second;
mod track;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

pub use second::{ActivitySecond, Second};
use second::{Reading, Readings};
pub use track::{COARSE_SLOTS_MAX, FINE_SLOTS_MAX, Recording, SLOT_MS, Slot};

use crate::{Metrics, percentile_us};

/// Sales that are recorded; one more, and the one that began first is given up.
pub const RECORDINGS_MAX: usize = 16;
/// How long before its start a sale is recorded, in milliseconds.
pub const BEFORE_START_MS: i64 = 120_000;

/// What the recorder can't count by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// The present moment, in epoch milliseconds.
    pub now_ms: i64,
    /// Tickets that wait for their order.
    pub queue_depth: u64,
    /// How long the oldest of them has waited, in milliseconds.
    pub oldest_ms: u64,
    /// Orders that this node has written so far.
    pub orders_written: u64,
    /// Activities that are not over.
    pub activities: &'a [Followed],
}

/// An activity that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Its id.
    pub id: u64,
    /// When it starts, in epoch milliseconds.
    pub starts_at_ms: i64,
    /// When it ends, in epoch milliseconds.
    pub ends_at_ms: i64,
    /// Units left; none where it has no state in the store.
    pub stock_left: Option<u64>,
    /// Orders of it that this node has written so far.
    pub orders_written: u64,
}

/// Records what a node does.
pub struct Recorder {
    metrics: Arc<Metrics>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    readings: Readings,
    recordings: BTreeMap<u64, Recording>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    /// A recorder of what `metrics` counts.
    #[must_use]
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            metrics,
            state: Mutex::default(),
        }
    }

    /// Reads the counts; to be called every [`SLOT_MS`].
    pub fn sample(&self, facts: &Facts<'_>) {
        let ids: Vec<u64> = facts.activities.iter().map(|activity| activity.id).collect();
        self.metrics.purchases.follow(&ids);
        let reading = Reading::take(&self.metrics, facts);
        let mut state = self.state.lock();
        let since = state.readings.newest().map(|before| reading.since(before));
        state.readings.push(reading);
        if let Some(since) = since {
            state.record(&since, facts);
        }
    }

    /// What the node did within the last second.
    #[must_use]
    pub fn last_second(&self) -> Second {
        self.state.lock().readings.second()
    }

    /// What was recorded of a sale; none where it did not come near its start, or was given up for later ones.
    #[must_use]
    pub fn recording(&self, activity: u64) -> Option<Recording> {
        self.state.lock().recordings.get(&activity).cloned()
    }
}

impl State {
    fn record(&mut self, since: &Second, facts: &Facts<'_>) {
        for activity in facts.activities {
            let begins_at_ms = activity.starts_at_ms.saturating_sub(BEFORE_START_MS);
            if facts.now_ms < begins_at_ms || activity.ends_at_ms.saturating_add(SLOT_MS) <= facts.now_ms {
                continue;
            }
            let Some(of_activity) = since
                .activities
                .iter()
                .find(|of_activity| of_activity.id == activity.id)
            else {
                continue;
            };
            let recording = self.recordings.entry(activity.id);
            let recording = recording.or_insert_with(|| Recording::new(begins_at_ms.max(facts.now_ms - SLOT_MS)));
            recording.add(facts.now_ms, slot(since, of_activity, facts));
        }
        while RECORDINGS_MAX < self.recordings.len() {
            let oldest = self
                .recordings
                .iter()
                .min_by_key(|(_, recording)| recording.begins_at_ms);
            let Some((&oldest, _)) = oldest else { return };
            self.recordings.remove(&oldest);
        }
    }
}

fn slot(since: &Second, of_activity: &ActivitySecond, facts: &Facts<'_>) -> Slot {
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Slot {
        outcomes: of_activity.outcomes.map(small),
        orders: small(of_activity.orders),
        stock_left: small(of_activity.stock_left.unwrap_or(0)),
        requests: small(since.requests),
        p50_us: small(percentile_us(&since.latency_us, 0.5)),
        p99_us: small(percentile_us(&since.latency_us, 0.99)),
        in_flight: small(since.in_flight),
        queue_depth: small(facts.queue_depth),
        oldest_ms: small(facts.oldest_ms),
    }
}
