//! How purchases ended, by activity: one count a request, which tells both the sum over all activities and each one's own.
//!
//! Activities that are followed have a place each, found by the last bits of their id, so that a request finds its place with a load and a
//! comparison. What belongs to no followed activity is counted in the place of the others. A place that goes to another activity goes on
//! counting from where it stands: nothing is taken back from the sum.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::cells::Cells;
use crate::counter::Label;
use crate::page::{Kind, Page};
use crate::registry::Collect;
use crate::{Core, Outcome, Registry};

/// Activities that are counted one by one at the same time.
pub const ACTIVITIES_COUNTED_MAX: usize = 64;
/// Ways in which a purchase may end.
pub const OUTCOMES: usize = Outcome::VALUES.len();
/// Place of purchases that belong to no activity that is followed.
const OTHERS: usize = ACTIVITIES_COUNTED_MAX;
const NOBODY: u64 = 0;

/// Counts by outcome, in the order of [`Outcome::VALUES`](Label::VALUES).
pub type Outcomes = [u64; OUTCOMES];

/// Purchase requests by how they ended and for which activity. A clone counts the same.
#[derive(Clone, Debug)]
pub struct Purchases {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Whose each place is.
    ids: [AtomicU64; ACTIVITIES_COUNTED_MAX],
    cells: Cells,
}

impl Purchases {
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                ids: std::array::from_fn(|_| AtomicU64::new(NOBODY)),
                cells: Cells::new(cores, (ACTIVITIES_COUNTED_MAX + 1) * OUTCOMES),
            }),
        }
    }

    pub(crate) fn register(registry: &Registry, name: &str, help: &str) -> Self {
        registry.add(name, help, Kind::Counter, Self::new(registry.cores))
    }

    /// Counts one that ended so. `activity` is the id it was for, 0 where that is not known.
    pub fn inc(&self, core: Core, activity: u64, outcome: Outcome) {
        let place = home(activity);
        let place = if self.shared.ids[place].load(Relaxed) == activity {
            place
        } else {
            OTHERS
        };
        self.shared.cells.add(core, place * OUTCOMES + outcome.index(), 1);
    }

    /// Those that ended so, over all activities.
    #[must_use]
    pub fn total(&self, outcome: Outcome) -> u64 {
        self.sum(outcome.index())
    }

    /// All, by how they ended.
    #[must_use]
    pub fn totals(&self) -> Outcomes {
        std::array::from_fn(|outcome| self.sum(outcome))
    }

    fn sum(&self, outcome: usize) -> u64 {
        let of_place = |place| self.shared.cells.sum(place * OUTCOMES + outcome);
        (0..=OTHERS).map(of_place).fold(0, u64::wrapping_add)
    }

    /// Gives each of these activities a place, where none of the others has it.
    pub(crate) fn follow(&self, activities: &[u64]) {
        for &activity in activities {
            let holder = &self.shared.ids[home(activity)];
            let held = holder.load(Relaxed);
            if held != activity && !activities.contains(&held) {
                holder.store(activity, Relaxed);
            }
        }
    }

    /// What the place of this activity has counted, whosever it was before; none where it has no place.
    pub(crate) fn of(&self, activity: u64) -> Option<Outcomes> {
        let place = home(activity);
        let is_its = activity != NOBODY && self.shared.ids[place].load(Relaxed) == activity;
        is_its.then(|| std::array::from_fn(|outcome| self.shared.cells.sum(place * OUTCOMES + outcome)))
    }
}

const fn home(activity: u64) -> usize {
    (activity % ACTIVITIES_COUNTED_MAX as u64) as usize
}

impl Collect for Purchases {
    fn collect(&self, name: &str, page: &mut Page) {
        for (outcome, word) in Outcome::VALUES.iter().enumerate() {
            page.whole(name, &[(Outcome::NAME, word)], self.sum(outcome));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLD_OUT: usize = Outcome::SoldOut as usize;

    #[test]
    fn each_followed_activity_has_its_own_count_and_all_are_in_the_sum() {
        let purchases = Purchases::new(2);
        purchases.follow(&[7, 8]);
        for (core, activity, times) in [(0, 7, 3), (1, 7, 4), (1, 8, 10), (0, 9, 100), (0, 0, 1_000)] {
            for _ in 0..times {
                purchases.inc(Core::new(core), activity, Outcome::SoldOut);
            }
        }
        let of = |activity| purchases.of(activity).map(|counts| counts[SOLD_OUT]);
        assert_eq!([of(7), of(8), of(9), of(0)], [Some(7), Some(10), None, None]);
        assert_eq!(purchases.total(Outcome::SoldOut), 1_117);
        assert_eq!(
            (purchases.totals()[SOLD_OUT], purchases.total(Outcome::Accepted)),
            (1_117, 0)
        );
    }

    #[test]
    fn a_place_is_taken_over_once_its_activity_is_not_followed_and_the_sum_stays() {
        let (purchases, same_place) = (Purchases::new(1), 7 + ACTIVITIES_COUNTED_MAX as u64);
        purchases.follow(&[7]);
        purchases.inc(Core::OTHER, 7, Outcome::Accepted);
        purchases.follow(&[7, same_place]);
        assert_eq!(purchases.of(same_place), None);
        purchases.follow(&[same_place]);
        purchases.inc(Core::OTHER, same_place, Outcome::Accepted);
        purchases.inc(Core::OTHER, 7, Outcome::Accepted);
        assert!(purchases.of(7).is_none() && purchases.of(same_place).is_some());
        assert_eq!(purchases.total(Outcome::Accepted), 3);
    }
}
