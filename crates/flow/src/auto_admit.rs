//! Which share of purchases a node lets in by itself while its store is slow.
//!
//! ```text
//! share 1 ──slow twice in a row──▶ half of it ──slow──▶ half of that … 0.05
//!    ◀── a step a second while the store is quick (below 0.7 of the threshold), or has nothing to do ──┘
//! ```
//! Whoever is refused hears so at once, before anything is done for him, so what is left is answered in good time. Pure: it is fed once a
//! second, by whoever has a timer.

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

/// What the store did within the last second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoreReading {
    /// 99 of 100 of its steps took no longer, in microseconds; 0 where it had none.
    pub p99_us: u64,
    /// How long all steps took together, as a part of the time: above 1 where several run at once.
    pub busy: f64,
    /// Whether it answers at all. While it does not, claims are refused at once, and nothing is learned.
    pub is_up: bool,
}

/// The share that is let in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutoAdmitRatio {
    ratio: f64,
    /// Whether the store was slow in the second before: a single long write is no overload.
    was_slow: bool,
}

impl Default for AutoAdmitRatio {
    fn default() -> Self {
        Self {
            ratio: 1.0,
            was_slow: false,
        }
    }
}

impl AutoAdmitRatio {
    /// The share for the next second; without a rule it is 1.
    pub fn second(&mut self, rule: Option<AutoAdmitRule>, reading: StoreReading) -> f64 {
        let Some(rule) = rule else {
            *self = Self::default();
            return self.ratio;
        };
        if !reading.is_up {
            self.was_slow = false;
            return self.ratio;
        }
        let is_slow = rule.slow_us < reading.p99_us && BUSY_MIN <= reading.busy;
        let is_quick = reading.p99_us <= rule.slow_us * QUICK_HUNDREDTHS / 100 || reading.busy < BUSY_MIN;
        if is_slow && (self.was_slow || self.ratio < 1.0) {
            self.ratio = (self.ratio / 2.0).max(RATIO_MIN);
        } else if is_quick {
            self.ratio = (self.ratio + rule.step).min(1.0);
        }
        self.was_slow = is_slow;
        self.ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: AutoAdmitRule = AutoAdmitRule {
        slow_us: 1_000,
        step: 0.1,
    };

    const fn took(p99_us: u64) -> StoreReading {
        StoreReading {
            p99_us,
            busy: 1.0,
            is_up: true,
        }
    }

    const DOWN: StoreReading = StoreReading {
        p99_us: 0,
        busy: 0.0,
        is_up: false,
    };

    /// The share after each second, in hundredths.
    fn shares(seconds: &[StoreReading]) -> Vec<u64> {
        let mut ratio = AutoAdmitRatio::default();
        let share = |reading: &StoreReading| (ratio.second(Some(RULE), *reading) * 100.0).round() as u64;
        seconds.iter().map(share).collect()
    }

    #[test]
    fn a_slow_store_halves_the_share_down_to_a_floor_from_the_second_second_on() {
        assert_eq!(shares(&[took(1_001); 7]), [100, 50, 25, 13, 6, 5, 5]);
    }

    #[test]
    fn one_slow_second_changes_nothing() {
        assert_eq!(shares(&[1_001, 900, 1_001, 10, 1_001].map(took)), [100; 5]);
    }

    #[test]
    fn the_share_rises_step_by_step_once_the_store_is_quick_and_falls_at_once_where_it_is_slow_again() {
        let seconds = [1_001, 1_001, 1_000, 701, 700, 0, 700, 1_001, 0, 0, 0, 0, 0, 0, 0].map(took);
        let expect = [100, 50, 50, 50, 60, 70, 80, 40, 50, 60, 70, 80, 90, 100, 100];
        assert_eq!(shares(&seconds), expect);
    }

    #[test]
    fn a_store_with_little_to_do_is_not_relieved() {
        let lazy = StoreReading {
            busy: 0.4,
            ..took(9_000)
        };
        assert_eq!(shares(&[lazy, lazy, lazy]), [100, 100, 100]);
        assert_eq!(shares(&[took(9_000), took(9_000), lazy]), [100, 50, 60]);
    }

    #[test]
    fn nothing_is_learned_from_a_store_that_does_not_answer() {
        assert_eq!(
            shares(&[took(9_000), took(9_000), DOWN, DOWN, took(9)]),
            [100, 50, 50, 50, 60]
        );
        assert_eq!(shares(&[took(9_000), DOWN, took(9_000)]), [100, 100, 100]);
    }

    #[test]
    fn without_a_rule_everybody_is_let_in_at_once() {
        let mut ratio = AutoAdmitRatio::default();
        for _ in 0..3 {
            ratio.second(Some(RULE), took(9_000));
        }
        assert_eq!(ratio.second(None, took(9_000)), 1.0);
        assert_eq!(
            ratio.second(Some(RULE), took(9_000)),
            1.0,
            "what was before is forgotten"
        );
    }
}
