//! Permits that may be given back.

use std::hash::Hash;

use seckill_sale::EpochMs;

use super::{DEBT_US_MAX, Limiter, SWAPS_MAX, TIME_MASK, debt_us, find, microseconds};

/// A permit that was taken, for [`Limiter::give_back`].
#[derive(Debug)]
#[must_use]
pub struct Permit {
    /// What it owes; 0 where nothing was limited.
    pub(super) interval_us: u64,
    /// When that is paid, as it stands in a word.
    pub(super) paid_at: u64,
}

impl Permit {
    pub(super) const FREE: Self = Self {
        interval_us: 0,
        paid_at: 0,
    };
}

impl Limiter {
    /// Gives back a permit of the same key: what of its debt time has not paid since, first come, first paid. Where others came back before
    /// it, time may have paid more of it; then the key is forgiven as much of what else it owes, but never more than the permit was held.
    /// Where 64 swaps are lost to others, it is kept.
    pub fn give_back(&self, key: impl Hash, Permit { interval_us, paid_at }: Permit, now: EpochMs) {
        let now_us = microseconds(now);
        let owed_us = debt_us(paid_at, now_us, DEBT_US_MAX).min(interval_us);
        let Some(rule) = self.rule().filter(|_| 0 < owed_us) else {
            return;
        };
        let (words, tag) = self.set_of(key);
        for _ in 0..SWAPS_MAX {
            let place = find(words, tag, now_us, rule.credible_us());
            // Pushed out, or paid.
            if place.debt_us == 0 {
                return;
            }
            let debt_us = place.debt_us.saturating_sub(owed_us);
            if place.swap(words, tag | (now_us.wrapping_add(debt_us) & TIME_MASK)) {
                return;
            }
        }
    }
}

#[cfg(test)]
#[path = "permit_tests.rs"]
mod tests;
