//! What this node turns by itself, beside what the operator says: the stricter of the two holds.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Read by every purchase, written when something changes.
#[derive(Debug)]
pub(crate) struct Automatic {
    /// Share that is let in, the bits of a number from 0 to 1.
    admit_ratio: AtomicU64,
    /// Whether nobody is admitted since too many tickets wait, or one of them for too long.
    holds_back: AtomicBool,
}

impl Default for Automatic {
    fn default() -> Self {
        Self {
            admit_ratio: AtomicU64::new(1_f64.to_bits()),
            holds_back: AtomicBool::new(false),
        }
    }
}

impl Automatic {
    pub(crate) fn admit_ratio(&self) -> f64 {
        f64::from_bits(self.admit_ratio.load(Relaxed))
    }

    pub(crate) fn set_admit_ratio(&self, ratio: f64) {
        self.admit_ratio.store(ratio.to_bits(), Relaxed);
    }

    pub(crate) fn holds_back(&self) -> bool {
        self.holds_back.load(Relaxed)
    }

    pub(crate) fn set_holds_back(&self, holds_back: bool) {
        self.holds_back.store(holds_back, Relaxed);
    }
}
