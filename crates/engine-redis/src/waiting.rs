//! Where tickets wait that this node can take: which shard is next, and how long there is none. Shards that begin with an entry of a later
//! version are left to nodes that can read it, and those of a server that does not answer wait until it does: neither keeps other sales waiting.

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

/// Orders shards: when their sale was served last, since when they wait, and their names.
type Rank = (u64, EpochMs, ActivityId, u64);

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

    /// The shard whose turn it is to be taken from, `passed_over` aside: of the sale whose turn it is, or of this one, the one whose oldest
    /// takable ticket waits longest.
    pub(crate) fn next_place(&self, passed_over: &[Place], of: Option<ActivityId>) -> Option<Place> {
        let (now, waits) = (self.time.now(), self.options.waits);
        let turns = self.turns.lock();
        let next = self.over_shards(None, |best: Option<(Rank, Place)>, place, shard| {
            let is_asked_for = |_: &_| of.is_none_or(|of| of == place.activity) && !passed_over.contains(&place);
            let since = shard.takable_since(now, waits).filter(is_asked_for);
            let since = since.filter(|_| self.can_be_taken_from(place));
            let ranked = since.map(|since| {
                let (served, since, activity) = turns.rank(place.activity, since);
                ((served, since, activity, place.shard), place)
            });
            best.into_iter().chain(ranked).min_by_key(|&(rank, _)| rank)
        });
        next.map(|(_, place)| place)
    }

    /// Whether its server can be asked, and may have tickets that this version can read.
    fn can_be_taken_from(&self, place: Place) -> bool {
        !self.left_to_newer.is_passed_over(place) && self.link.is_up(&place.buyers())
    }

    /// How long nothing can be taken, as far as this node knows.
    pub(crate) fn until_due(&self) -> Duration {
        let now = self.time.now();
        let due = self.over_shards(None, |first, place, shard| {
            let due = shard.next_due(self.options.waits);
            let due = due.filter(|_| self.can_be_taken_from(place));
            due.into_iter().chain(first).min()
        });
        let ms = due.map(|at| u64::try_from(at.since(now)).unwrap_or(0));
        ms.map_or(WAIT_MAX, |ms| Duration::from_millis(ms.max(1))).min(WAIT_MAX)
    }
}
