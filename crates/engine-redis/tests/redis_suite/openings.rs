//! States that are built in many steps, or were left half built.

use seckill_queue::Queue;
use seckill_sale::{EpochMs, NotReady, Quantity, Refusal, RequestKey, Restored, TicketState, UserId};
use seckill_stock::conformance::Fixture;
use seckill_stock::{OpenOutcome, Stock};

use crate::sale::{buy, key, open, opening};
use crate::support::Running;

fn restored(sequence: u64, state: TicketState) -> Restored {
    Restored {
        user: UserId::new(&format!("r{sequence}")).expect("valid"),
        key: RequestKey([9; 16]),
        quantity: Quantity::ONE,
        sequence,
        epoch: seckill_sale::Epoch::FIRST,
        accepted_at: EpochMs(5),
        state,
        attempts: 3,
        request_id: None,
        dead_reason: String::new(),
    }
}

#[test]
fn a_large_state_is_built_in_steps_and_hands_its_tickets_out_in_their_order() {
    const QUEUED: u64 = 1_300;
    let running = Running::start(None);
    let mut opening = opening(1);
    opening.buyers = (1..=QUEUED)
        .map(|sequence| restored(sequence, TicketState::Queued))
        .collect();
    opening.buyers.push(restored(QUEUED + 1, TicketState::Succeeded));
    assert_eq!(running.block_on(running.engine.open(opening)), Ok(OpenOutcome::Created));
    assert_eq!(buy(&running, "new").expect("admitted").ticket.sequence, QUEUED + 2);
    let mut sequences = Vec::new();
    for _ in 0..3 {
        let taken = running.block_on(running.engine.take(500)).expect("answers");
        let restored = taken.iter().filter(|delivery| delivery.user.as_str() != "new");
        assert!(restored.clone().all(|delivery| delivery.attempts == 3));
        sequences.extend(taken.iter().map(|delivery| delivery.ticket.sequence));
    }
    let expected: Vec<_> = (1..=QUEUED).chain([QUEUED + 2]).collect();
    assert_eq!(sequences, expected);
}

#[test]
fn a_state_left_half_built_admits_nobody_and_is_built_anew() {
    let running = Running::start(None);
    let activity = open(&running, 5);
    buy(&running, "a").expect("admitted");
    let mark = |field, value| {
        running
            .redis
            .command(&["HSET", &key("meta"), field, value])
            .expect("answers")
    };
    mark("built", "0");
    // Nothing was lost where it takes the place of nothing.
    assert_eq!(buy(&running, "b"), Err(Refusal::NotReady(NotReady::NotPreheated)));
    mark("opens", "1000");
    assert_eq!(buy(&running, "b"), Err(Refusal::NotReady(NotReady::Recovering)));
    open(&running, 2);
    assert_eq!(buy(&running, "a").map(|reserved| reserved.ticket.sequence), Ok(1));
    let figures = running.block_on(running.engine.figures(activity)).expect("answers");
    assert_eq!(
        figures.map(|figures| (figures.stock_left, figures.accepted)),
        Some((1, 1))
    );
}

#[test]
fn two_that_open_at_once_make_one_state() {
    let running = Running::start(None);
    let other = running.another("other");
    let (one, two) = running.block_on(async { tokio::join!(running.engine.open(opening(5)), other.open(opening(5))) });
    let outcomes = [one, two];
    assert!(outcomes.contains(&Ok(OpenOutcome::Created)), "{outcomes:?}");
    buy(&running, "a").expect("admitted");
    let figures = running
        .block_on(running.engine.figures(Fixture::activity()))
        .expect("answers");
    assert_eq!(
        figures.map(|figures| (figures.stock_left, figures.accepted)),
        Some((4, 1))
    );
}
