//! A limit as it is counted, and as one word that is changed while others read it.

use seckill_sale::Quota;

use super::{CLOCK_STEP_US_MAX, DEBT_US_MAX, Wait};
use crate::limits::rate::Limit;

/// Bits of the word that hold the interval; the rest hold the burst.
const INTERVAL_BITS: u32 = 32;

pub(super) struct Rule {
    /// Debt of one request.
    pub(super) interval_us: u64,
    burst: u64,
    /// The largest debt with which a request still passes.
    pub(super) tolerance_us: u64,
}

impl Rule {
    /// 0 where nothing is limited.
    pub(super) fn packed(limit: Limit) -> u64 {
        match limit {
            Limit::Rate(rate) => rate.interval_us() | (rate.burst() << INTERVAL_BITS),
            Limit::Off => 0,
        }
    }

    pub(super) fn unpacked(word: u64) -> Option<Self> {
        if word == 0 {
            return None;
        }
        let (interval_us, burst) = (word & ((1 << INTERVAL_BITS) - 1), word >> INTERVAL_BITS);
        Some(Self {
            interval_us,
            burst,
            tolerance_us: (interval_us * (burst - 1)).min(DEBT_US_MAX - CLOCK_STEP_US_MAX - interval_us),
        })
    }

    /// The largest debt that this limit can have made.
    pub(super) const fn credible_us(&self) -> u64 {
        self.tolerance_us + self.interval_us + CLOCK_STEP_US_MAX
    }

    /// What whoever has to wait so long is told.
    #[cold]
    pub(super) fn wait(&self, us: u64) -> Wait {
        Wait {
            ms: us.div_ceil(1000),
            quota: Quota::of_rate(self.interval_us, u32::try_from(self.burst).unwrap_or(u32::MAX)),
        }
    }
}
