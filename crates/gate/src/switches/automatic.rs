//! What this node turns by itself, beside what the operator says: the stricter of the two holds. Each sale for itself, so that one that is
//! overrun, or whose part of the store is slow, shuts no other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use seckill_sale::ActivityId;

/// Read by every purchase, written when something changes.
#[derive(Debug)]
pub(crate) struct Automatic {
    /// The lowest share of any sale, the bits of a number from 0 to 1: most of the time there is none below 1, and nobody looks further.
    lowest: AtomicU64,
    /// Share of each sale of which not everybody is let in.
    admit_ratios: ArcSwap<BTreeMap<ActivityId, f64>>,
    /// Sales that admit nobody since too many of their tickets wait, or one of them for too long.
    held_back: ArcSwap<BTreeSet<ActivityId>>,
    /// Sales of which somebody heard that the backlog is full, since it was asked last.
    full: Mutex<BTreeSet<ActivityId>>,
}

impl Default for Automatic {
    fn default() -> Self {
        Self {
            lowest: AtomicU64::new(1_f64.to_bits()),
            admit_ratios: ArcSwap::default(),
            held_back: ArcSwap::default(),
            full: Mutex::default(),
        }
    }
}

impl Automatic {
    pub(crate) fn admit_ratio(&self, activity: ActivityId) -> f64 {
        if 1.0 <= self.lowest() {
            return 1.0;
        }
        self.admit_ratios.load().get(&activity).copied().unwrap_or(1.0)
    }

    pub(crate) fn lowest(&self) -> f64 {
        f64::from_bits(self.lowest.load(Relaxed))
    }

    pub(crate) fn admit_ratios(&self) -> Arc<BTreeMap<ActivityId, f64>> {
        self.admit_ratios.load_full()
    }

    pub(crate) fn set_admit_ratios(&self, ratios: BTreeMap<ActivityId, f64>) {
        let lowest = ratios.values().copied().fold(1.0, f64::min);
        self.admit_ratios.store(Arc::new(ratios));
        self.lowest.store(lowest.to_bits(), Relaxed);
    }

    pub(crate) fn held_back(&self) -> Arc<BTreeSet<ActivityId>> {
        self.held_back.load_full()
    }

    pub(crate) fn set_held_back(&self, sales: BTreeSet<ActivityId>) {
        self.held_back.store(Arc::new(sales));
    }

    pub(crate) fn note_full(&self, activity: ActivityId) {
        self.full.lock().insert(activity);
    }

    pub(crate) fn take_full(&self) -> BTreeSet<ActivityId> {
        std::mem::take(&mut *self.full.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sale_has_a_share_of_its_own_and_all_where_none_is_said() {
        let (automatic, hot, other) = (Automatic::default(), ActivityId::new(1), ActivityId::new(2));
        let (hot, other) = (hot.expect("in range"), other.expect("in range"));
        let shares = || {
            [
                automatic.lowest(),
                automatic.admit_ratio(hot),
                automatic.admit_ratio(other),
            ]
        };
        assert_eq!(shares(), [1.0, 1.0, 1.0]);
        automatic.set_admit_ratios(BTreeMap::from([(hot, 0.25)]));
        assert_eq!(shares(), [0.25, 0.25, 1.0]);
        automatic.set_admit_ratios(BTreeMap::new());
        assert_eq!(shares(), [1.0, 1.0, 1.0]);
    }
}
