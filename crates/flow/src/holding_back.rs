//! When a node admits nobody since too many tickets wait for their order, or one of them for too long, and when it does again.
//!
//! ```text
//!            claims hear that the backlog is full, or the oldest is too old twice in a row
//! admits ───────────────────────────────────────────────────────────────────────────────────▶ holds back
//!    ◀─────────────────────────────────────────────────────────────────────────────────────────────┘
//!            fewer wait than at which admissions begin again, and the oldest is young
//! ```
//! Pure: it is fed with what was read, by whoever has a timer, and says what it comes to.

/// What the switches say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BacklogLimits {
    /// Tickets that may wait.
    pub max: u64,
    /// Admissions begin again below it; at most `max`.
    pub resume: u64,
    /// How long the oldest may wait, in milliseconds; 0: for ever.
    pub oldest_max_ms: i64,
}

/// One look at the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BacklogReading {
    /// Tickets that wait.
    pub tickets: u64,
    /// How long the oldest has waited, in milliseconds.
    pub oldest_ms: i64,
    /// Whether a claim heard since the last look that the backlog is full. While orders are written the queue is never seen full: there is
    /// room for a moment again and again.
    pub was_full: bool,
}

/// Whether a node holds admissions back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HoldingBack {
    holds: bool,
    /// Whether the oldest was too old at the last look: a ticket that waits for a worker that begins just now is old for one look.
    was_old: bool,
}

impl HoldingBack {
    /// Whether admissions are held back after this look. In either state the limits are those that hold now.
    pub fn look(&mut self, limits: BacklogLimits, reading: BacklogReading) -> bool {
        let waits = 0 < reading.tickets && limits.oldest_max_ms != 0;
        let is_old = waits && limits.oldest_max_ms < reading.oldest_ms;
        let is_young = !waits || reading.oldest_ms <= limits.oldest_max_ms / 5 * 4;
        self.holds = if self.holds {
            // What claims hear meanwhile comes of the holding back itself.
            !(reading.tickets < limits.resume && is_young)
        } else {
            let is_full = limits.max <= reading.tickets || (reading.was_full && limits.resume <= reading.tickets);
            is_full || (is_old && self.was_old)
        };
        self.was_old = is_old;
        self.holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: BacklogLimits = BacklogLimits {
        max: 100,
        resume: 80,
        oldest_max_ms: 10_000,
    };

    const fn waiting(tickets: u64) -> BacklogReading {
        BacklogReading {
            tickets,
            oldest_ms: 0,
            was_full: false,
        }
    }

    const fn oldest(oldest_ms: i64) -> BacklogReading {
        BacklogReading {
            tickets: 1,
            oldest_ms,
            was_full: false,
        }
    }

    /// What each look in turn comes to.
    fn seen(limits: BacklogLimits, looks: &[BacklogReading]) -> Vec<bool> {
        let mut holding = HoldingBack::default();
        looks.iter().map(|reading| holding.look(limits, *reading)).collect()
    }

    #[test]
    fn a_full_backlog_holds_back_until_it_is_below_the_lower_mark() {
        let looks = [99, 100, 99, 80, 79, 99].map(waiting);
        assert_eq!(seen(LIMITS, &looks), [false, true, true, true, false, false]);
    }

    #[test]
    fn a_backlog_that_claims_found_full_holds_back_though_no_look_sees_it() {
        let full = BacklogReading {
            was_full: true,
            ..waiting(90)
        };
        assert_eq!(seen(LIMITS, &[full, waiting(80), waiting(79)]), [true, true, false]);
        let drained_since = BacklogReading {
            was_full: true,
            ..waiting(3)
        };
        assert_eq!(seen(LIMITS, &[drained_since]), [false]);
    }

    #[test]
    fn what_claims_hear_while_it_holds_back_does_not_prolong_it() {
        let refused = BacklogReading {
            was_full: true,
            ..waiting(79)
        };
        assert_eq!(seen(LIMITS, &[waiting(100), refused]), [true, false]);
    }

    #[test]
    fn an_old_ticket_holds_back_from_the_second_look_until_the_oldest_is_young() {
        let looks = [10_001, 10_000, 10_001, 10_001, 8_001, 8_000].map(oldest);
        assert_eq!(seen(LIMITS, &looks), [false, false, false, true, true, false]);
        let off = BacklogLimits {
            oldest_max_ms: 0,
            ..LIMITS
        };
        assert_eq!(seen(off, &[oldest(i64::MAX), oldest(i64::MAX)]), [false, false]);
    }

    #[test]
    fn both_must_be_well_before_admissions_begin_again() {
        let old_and_few = oldest(9_000);
        let young_and_many = waiting(90);
        let looks = [waiting(100), old_and_few, young_and_many, waiting(0)];
        assert_eq!(seen(LIMITS, &looks), [true, true, true, false]);
    }

    #[test]
    fn the_smallest_backlog_opens_again_when_nobody_waits() {
        let smallest = BacklogLimits {
            max: 1,
            resume: 1,
            ..LIMITS
        };
        assert_eq!(seen(smallest, &[1, 1, 0].map(waiting)), [true, true, false]);
    }

    #[test]
    fn limits_that_change_meanwhile_hold_at_the_next_look() {
        let mut holding = HoldingBack::default();
        assert!(holding.look(LIMITS, waiting(100)));
        let wider = BacklogLimits {
            max: 1_000,
            resume: 800,
            ..LIMITS
        };
        assert!(!holding.look(wider, waiting(100)));
        assert!(holding.look(LIMITS, waiting(100)));
    }
}
