//! Which share of a sale's purchases a node lets in by itself while the store is slow for it.
//!
//! ```text
//! share 1 ──slow twice in a row──▶ half of it ──slow──▶ half of that … 0.05
//!    ◀── a step a second while the store is quick (below 0.7 of the threshold), or has nothing to do ──┘
//! ```
//! Whoever is refused hears so at once, before anything is done for him, so what is left is answered in good time. Of several sales for which
//! it is slow those pay that bring at least an equal part of the claims; a sale on a server that is quick pays for nobody. Pure: it is fed
//! once a second, by whoever has a timer.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use seckill_sale::ActivityId;

/// The share never falls below it: who comes again and again gets through, and the store is seen to be quick again.
const RATIO_MIN: f64 = 0.05;
/// Part of the threshold below which a store counts as quick again, in hundredths.
const QUICK_HUNDREDTHS: u64 = 70;
/// A store that was at work for less of the time is not slow for the number of its buyers, and refusing some would help nobody.
const BUSY_MIN: f64 = 0.5;

/// What the switch says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutoAdmitRule {
    /// A store of which 1 in 100 steps takes longer is slow, in microseconds.
    pub slow_us: u64,
    /// What the share rises by in a second.
    pub step: f64,
}

impl AutoAdmitRule {
    /// Whether a step that took so long is slow.
    #[must_use]
    pub fn is_slow(&self, took: Duration) -> bool {
        u128::from(self.slow_us) < took.as_micros()
    }

    /// Whether a step that took so long is none of a store that is quick again.
    #[must_use]
    pub fn is_late(&self, took: Duration) -> bool {
        u128::from(self.slow_us * QUICK_HUNDREDTHS / 100) < took.as_micros()
    }
}

/// What the store did for one sale within the last second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StoreReading {
    /// Steps.
    pub steps: u64,
    /// Steps that were slow.
    pub slow: u64,
    /// Steps that were none of a quick store.
    pub late: u64,
    /// How much of the time at least one was under way, from 0 to 1.
    pub busy: f64,
    /// Claims that they decided.
    pub claims: u64,
}

impl StoreReading {
    /// Whether more than one in a hundred are `some`.
    const fn has_many(&self, some: u64) -> bool {
        self.steps / 100 < some
    }

    fn is_slow(&self) -> bool {
        self.has_many(self.slow) && BUSY_MIN <= self.busy
    }

    fn is_quick(&self) -> bool {
        !self.has_many(self.late) || self.busy < BUSY_MIN
    }
}

/// The share of one sale.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Share {
    ratio: f64,
    /// Whether the store was slow in the second before: a single long write is no overload.
    was_slow: bool,
}

const WHOLE: Share = Share {
    ratio: 1.0,
    was_slow: false,
};

/// The shares that are let in.
#[derive(Debug, Default)]
pub struct AutoAdmitRatios(HashMap<ActivityId, Share>);

impl AutoAdmitRatios {
    /// The share of each sale for the next second, where it is not 1; without a rule there is none. `sales` are those that the store did
    /// something for. While it does not answer at all (`is_up` is false) claims are refused at once, and nothing is learned.
    pub fn second(
        &mut self,
        rule: Option<AutoAdmitRule>,
        is_up: bool,
        sales: &BTreeMap<ActivityId, StoreReading>,
    ) -> BTreeMap<ActivityId, f64> {
        match rule {
            None => self.0.clear(),
            Some(_) if !is_up => self.0.values_mut().for_each(|share| share.was_slow = false),
            Some(rule) => self.learn(rule, sales),
        }
        let lowered = self.0.iter().filter(|(_, share)| share.ratio < WHOLE.ratio);
        lowered.map(|(activity, share)| (*activity, share.ratio)).collect()
    }

    fn learn(&mut self, rule: AutoAdmitRule, sales: &BTreeMap<ActivityId, StoreReading>) {
        let slow = || sales.values().filter(|reading| reading.is_slow());
        let (count, claims) = (slow().count() as u64, slow().map(|reading| reading.claims).sum::<u64>());
        for activity in sales.keys() {
            self.0.entry(*activity).or_insert(WHOLE);
        }
        for (activity, share) in &mut self.0 {
            // Of whom nothing is heard, for him the store has nothing to do.
            let reading = sales.get(activity).copied().unwrap_or_default();
            let is_slow = reading.is_slow();
            if is_slow && claims <= reading.claims * count && (share.was_slow || share.ratio < WHOLE.ratio) {
                share.ratio = (share.ratio / 2.0).max(RATIO_MIN);
            } else if reading.is_quick() {
                share.ratio = (share.ratio + rule.step).min(WHOLE.ratio);
            }
            share.was_slow = is_slow;
        }
        self.0.retain(|_, share| *share != WHOLE);
    }
}

#[cfg(test)]
#[path = "auto_admit_tests.rs"]
mod tests;
