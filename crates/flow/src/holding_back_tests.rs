//! Facts about sales that are held back.

use super::*;

const LIMITS: BacklogLimits = BacklogLimits {
    max: 100,
    resume: 80,
    oldest_max_ms: 10_000,
};

fn activity(id: u64) -> ActivityId {
    ActivityId::new(id).expect("in range")
}

fn waiting(tickets: u64) -> BacklogReading {
    BacklogReading {
        activity: activity(1),
        in_queue: InQueue { tickets, units: 1_000 },
        oldest_ms: 0,
        was_full: false,
    }
}

fn oldest(oldest_ms: i64) -> BacklogReading {
    BacklogReading {
        oldest_ms,
        ..waiting(1)
    }
}

/// What each look at a sale that is alone comes to.
fn seen(limits: BacklogLimits, looks: &[BacklogReading]) -> Vec<bool> {
    let mut held = HeldBack::default();
    let looks = looks.iter().map(|reading| !held.look(limits, &[*reading]).is_empty());
    looks.collect()
}

/// Which of two sales are held back after each look.
fn seen_of_two(looks: &[[BacklogReading; 2]]) -> Vec<Vec<u64>> {
    let mut held = HeldBack::default();
    let mut look = |[first, second]: [BacklogReading; 2]| {
        let second = BacklogReading {
            activity: activity(2),
            ..second
        };
        let held = held.look(LIMITS, &[first, second]);
        held.into_iter().map(ActivityId::get).collect()
    };
    looks.iter().map(|sales| look(*sales)).collect()
}

#[test]
fn a_sale_that_fills_the_backlog_holds_back_itself_and_no_other() {
    let looks = [[75, 0], [75, 24], [75, 25], [60, 25], [59, 25]].map(|sales| sales.map(waiting));
    let expect: [&[u64]; 5] = [&[1], &[1], &[1, 2], &[1], &[]];
    assert_eq!(seen_of_two(&looks), expect);
}

#[test]
fn a_sale_whose_tickets_cannot_be_settled_holds_back_itself_and_no_other() {
    let looks = [[oldest(10_001), waiting(30)]; 3];
    assert_eq!(seen_of_two(&looks), [vec![], vec![1], vec![1]]);
}

#[test]
fn a_sale_that_begins_behind_a_full_backlog_sells_as_soon_as_there_is_room() {
    let looks = [[100, 0], [99, 0], [99, 1], [98, 1]].map(|sales| sales.map(waiting));
    let expect: [&[u64]; 4] = [&[1, 2], &[1], &[1, 2], &[1, 2]];
    assert_eq!(seen_of_two(&looks), expect);
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
    let mut held = HeldBack::default();
    let mut holds = |limits| !held.look(limits, &[waiting(100)]).is_empty();
    assert!(holds(LIMITS));
    let wider = BacklogLimits {
        max: 1_000,
        resume: 800,
        ..LIMITS
    };
    assert!(!holds(wider));
    assert!(holds(LIMITS));
}
