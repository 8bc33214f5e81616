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
mod tests {
    use super::*;

    const RULE: AutoAdmitRule = AutoAdmitRule {
        slow_us: 1_000,
        step: 0.1,
    };
    const SLOW: StoreReading = StoreReading {
        steps: 10,
        slow: 1,
        late: 1,
        busy: 1.0,
        claims: 100,
    };
    const BETWEEN: StoreReading = StoreReading { slow: 0, ..SLOW };
    const QUICK: StoreReading = StoreReading {
        slow: 0,
        late: 0,
        ..SLOW
    };

    fn activity(id: u64) -> ActivityId {
        ActivityId::new(id).expect("in range")
    }

    /// The shares of two sales after each second, in hundredths.
    fn shares_of_two(seconds: &[[StoreReading; 2]]) -> Vec<[u64; 2]> {
        let mut ratios = AutoAdmitRatios::default();
        let mut second = |sales: &[StoreReading; 2]| {
            let sales = BTreeMap::from([(activity(1), sales[0]), (activity(2), sales[1])]);
            let shares = ratios.second(Some(RULE), true, &sales);
            [1, 2].map(|id| (shares.get(&activity(id)).unwrap_or(&1.0) * 100.0).round() as u64)
        };
        seconds.iter().map(&mut second).collect()
    }

    /// The same of a sale that is alone.
    fn shares(seconds: &[StoreReading]) -> Vec<u64> {
        let seconds: Vec<_> = seconds
            .iter()
            .map(|reading| [*reading, StoreReading::default()])
            .collect();
        shares_of_two(&seconds).into_iter().map(|[share, _]| share).collect()
    }

    #[test]
    fn a_slow_store_halves_the_share_down_to_a_floor_from_the_second_second_on() {
        assert_eq!(shares(&[SLOW; 7]), [100, 50, 25, 13, 6, 5, 5]);
    }

    #[test]
    fn one_slow_second_changes_nothing() {
        assert_eq!(shares(&[SLOW, BETWEEN, SLOW, QUICK, SLOW]), [100; 5]);
    }

    #[test]
    fn the_share_rises_step_by_step_once_the_store_is_quick_and_falls_at_once_where_it_is_slow_again() {
        let idle = StoreReading::default();
        let seconds = [
            SLOW, SLOW, BETWEEN, BETWEEN, QUICK, idle, QUICK, SLOW, idle, idle, idle, idle, idle, idle, idle,
        ];
        let expect = [100, 50, 50, 50, 60, 70, 80, 40, 50, 60, 70, 80, 90, 100, 100];
        assert_eq!(shares(&seconds), expect);
    }

    #[test]
    fn a_store_with_little_to_do_is_not_relieved() {
        let lazy = StoreReading { busy: 0.4, ..SLOW };
        assert_eq!(shares(&[lazy, lazy, lazy]), [100, 100, 100]);
        assert_eq!(shares(&[SLOW, SLOW, lazy]), [100, 50, 60]);
    }

    #[test]
    fn one_step_in_a_hundred_may_take_long() {
        let of = |steps, slow| StoreReading { steps, slow, ..SLOW };
        assert_eq!(shares(&[of(200, 2); 2]), [100, 100]);
        assert_eq!(shares(&[of(200, 3); 2]), [100, 50]);
        assert_eq!(
            [999, 1_000, 1_001].map(|us| RULE.is_slow(Duration::from_micros(us))),
            [false, false, true]
        );
        assert_eq!(
            [700, 701].map(|us| RULE.is_late(Duration::from_micros(us))),
            [false, true]
        );
    }

    #[test]
    fn a_sale_whose_server_is_slow_lowers_the_share_of_no_other() {
        assert_eq!(shares_of_two(&[[SLOW, QUICK]; 3]), [[100, 100], [50, 100], [25, 100]]);
    }

    #[test]
    fn of_sales_on_one_slow_server_those_pay_that_bring_most_claims() {
        let calm = StoreReading { claims: 10, ..SLOW };
        assert_eq!(shares_of_two(&[[SLOW, calm]; 3]), [[100, 100], [50, 100], [25, 100]]);
        assert_eq!(shares_of_two(&[[SLOW, SLOW]; 3]), [[100, 100], [50, 50], [25, 25]]);
        // The hot one has been lowered to what the other has, and that does not do.
        let tamed = StoreReading { claims: 9, ..SLOW };
        let seconds = [[SLOW, calm], [SLOW, calm], [tamed, calm]];
        assert_eq!(shares_of_two(&seconds), [[100, 100], [50, 100], [50, 50]]);
    }

    #[test]
    fn nothing_is_learned_from_a_store_that_does_not_answer() {
        let mut ratios = AutoAdmitRatios::default();
        let mut second = |is_up, reading| {
            let sales = BTreeMap::from([(activity(1), reading)]);
            let shares = ratios.second(Some(RULE), is_up, &sales);
            shares.get(&activity(1)).copied()
        };
        assert_eq!([second(true, SLOW), second(false, SLOW), second(true, SLOW)], [None; 3]);
        assert_eq!(second(true, SLOW), Some(0.5));
        assert_eq!([second(false, SLOW), second(false, QUICK)], [Some(0.5); 2]);
        assert_eq!(second(true, QUICK), Some(0.6));
    }

    #[test]
    fn without_a_rule_everybody_is_let_in_at_once() {
        let mut ratios = AutoAdmitRatios::default();
        let sales = BTreeMap::from([(activity(1), SLOW)]);
        for _ in 0..3 {
            ratios.second(Some(RULE), true, &sales);
        }
        assert!(ratios.second(None, true, &sales).is_empty());
        let first = ratios.second(Some(RULE), true, &sales);
        assert!(first.is_empty(), "what was before is forgotten: {first:?}");
    }
}
