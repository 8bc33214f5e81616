//! Whose turn it is to be settled: sales of which tickets wait take turns, so that a long queue of one keeps no other waiting.

use std::collections::HashMap;

use seckill_sale::{ActivityId, EpochMs};

/// Sales whose last turn is remembered; those that were served longest ago are forgotten first, and come first then.
const KNOWN_MAX: usize = 1_024;

/// When each sale was served last.
#[derive(Debug, Default)]
pub struct Turns {
    served: HashMap<ActivityId, u64>,
    count: u64,
}

impl Turns {
    /// Orders sales: the lowest is next. Of those that were never served, the one with the longest wait.
    #[must_use]
    pub fn rank(&self, activity: ActivityId, waits_since: EpochMs) -> (u64, EpochMs, ActivityId) {
        let served = self.served.get(&activity).copied().unwrap_or(0);
        (served, waits_since, activity)
    }

    /// A sale was served.
    pub fn serve(&mut self, activity: ActivityId) {
        self.count += 1;
        self.served.insert(activity, self.count);
        if KNOWN_MAX < self.served.len() {
            let oldest = self.served.iter().min_by_key(|(_, served)| **served);
            if let Some(oldest) = oldest.map(|(activity, _)| *activity) {
                self.served.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(id: u64) -> ActivityId {
        ActivityId::new(id).expect("in range")
    }

    /// Who is next of these, each with the moment since when its tickets wait.
    fn next(turns: &Turns, waiting: &[(u64, i64)]) -> u64 {
        let rank = |&(id, since): &(u64, i64)| turns.rank(activity(id), EpochMs(since));
        let (_, _, next) = waiting.iter().map(rank).min().expect("somebody waits");
        next.get()
    }

    #[test]
    fn sales_take_turns_however_long_their_tickets_wait() {
        let mut turns = Turns::default();
        let mut served = Vec::new();
        for _ in 0..7 {
            let next = next(&turns, &[(3, 20), (1, 10), (2, 30)]);
            turns.serve(activity(next));
            served.push(next);
        }
        assert_eq!(served, [1, 3, 2, 1, 3, 2, 1]);
    }

    #[test]
    fn a_sale_that_comes_after_a_while_is_next() {
        let mut turns = Turns::default();
        for id in [1, 2, 1, 1] {
            turns.serve(activity(id));
        }
        assert_eq!(next(&turns, &[(1, 0), (2, 9)]), 2);
        assert_eq!(next(&turns, &[(1, 0), (2, 9), (3, 99)]), 3);
    }

    #[test]
    fn no_more_sales_are_remembered_than_a_house_has() {
        let mut turns = Turns::default();
        (1..=2 * KNOWN_MAX as u64).for_each(|id| turns.serve(activity(id)));
        assert_eq!(turns.served.len(), KNOWN_MAX);
        assert_eq!(next(&turns, &[(2 * KNOWN_MAX as u64, 0), (1, 1)]), 1);
    }
}
