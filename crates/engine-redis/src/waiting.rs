//! Where tickets wait that this node can take: which shard is next, and how long there is none. Shards that begin with an entry of a later
//! version are left to nodes that can read it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use seckill_sale::{ActivityId, EpochMs};

use crate::keys::Place;
use crate::shared::Shared;

/// Longest wait for tickets that nobody has announced, and between two looks at what is left to others.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// Shards with an entry that this version can't read; those that had nothing else are passed over until a moment.
#[derive(Debug, Default)]
pub(crate) struct LeftToNewer(Mutex<HashMap<Place, Instant>>);

impl LeftToNewer {
    fn is_passed_over(&self, place: Place) -> bool {
        let left = self.0.lock();
        !left.is_empty() && left.get(&place).is_some_and(|&until| Instant::now() < until)
    }

    /// Whether this is news.
    fn leave(&self, place: Place, until: Instant) -> bool {
        self.0.lock().insert(place, until).is_none()
    }

    fn forget(&self, place: Place) {
        let mut left = self.0.lock();
        if !left.is_empty() {
            left.remove(&place);
        }
    }
}

impl Shared {
    /// What a take has found: whether it `met` an entry of a later version, and whether it was `in_vain`.
    pub(crate) fn note_newer(&self, place: Place, met: bool, in_vain: bool) {
        if !met {
            return self.left_to_newer.forget(place);
        }
        let pause = if in_vain { WAIT_MAX } else { Duration::ZERO };
        if self.left_to_newer.leave(place, Instant::now() + pause) {
            tracing::warn!(%place, "tickets of a later version wait; this process cannot read them and leaves them to those that can");
        }
    }

    /// The shard whose oldest takable ticket waits longest, `passed_over` aside.
    pub(crate) fn longest_wait(&self, passed_over: &[Place]) -> Option<Place> {
        let (now, waits) = (self.time.now(), self.options.waits);
        let longest = self.over_shards(None, |best: Option<(EpochMs, ActivityId, u64, Place)>, place, shard| {
            let since = shard
                .takable_since(now, waits)
                .filter(|_| !passed_over.contains(&place) && !self.left_to_newer.is_passed_over(place));
            let since = since.map(|since| (since, place.activity, place.shard, place));
            best.into_iter()
                .chain(since)
                .min_by_key(|&(since, activity, shard, _)| (since, activity, shard))
        });
        longest.map(|(.., place)| place)
    }

    /// How long nothing can be taken, as far as this node knows.
    pub(crate) fn until_due(&self) -> Duration {
        let now = self.time.now();
        let due = self.over_shards(None, |first, place, shard| {
            let due = shard.next_due(self.options.waits);
            let due = due.filter(|_| !self.left_to_newer.is_passed_over(place));
            due.into_iter().chain(first).min()
        });
        let ms = due.map(|at| u64::try_from(at.since(now)).unwrap_or(0));
        ms.map_or(WAIT_MAX, |ms| Duration::from_millis(ms.max(1))).min(WAIT_MAX)
    }
}
