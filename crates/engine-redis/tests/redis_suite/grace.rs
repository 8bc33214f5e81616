//! A state that took the place of a lost one takes up the tickets of that one before it admits anybody.

use std::sync::Arc;

use seckill_engine_redis::Engine;
use seckill_queue::{Adopted, Adoption, Queue, Verdict, Verdicts};
use seckill_sale::{
    Conclusion, Delivery, FailureReason, ManualClock, NotReady, Refusal, RequestKey, TicketState, UserId,
};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Error, Glance, Opening, Stock};

use crate::healing::{RECOVERING, epoch};
use crate::sale::{buy, open, opening};
use crate::sold_out::wait_until;
use crate::support::Running;

/// Two units, open to strangers a second after it was built.
fn reopened(running: &Running) {
    let mut opening = Opening {
        grace_ms: 1_000,
        ..Fixture::opening(Fixture::activity(), 2)
    };
    opening.opened.epoch = epoch(2);
    opening.opened.next_sequence = 100;
    running.block_on(running.engine.open(opening)).expect("built");
}

/// A ticket of the state before.
fn lost(user: &str) -> Delivery {
    let claim = Fixture::claim(user, 1, 1);
    let ticket = seckill_sale::Ticket {
        activity: Fixture::activity(),
        epoch: epoch(1),
        sequence: 7,
    };
    Delivery {
        ticket,
        user: claim.user,
        quantity: claim.quantity,
        key: RequestKey([7; 16]),
        accepted_at: Fixture::OPENS,
        request_id: claim.request_id,
        attempts: 0,
        deliveries: 0,
    }
}

#[test]
fn who_lost_his_ticket_comes_before_strangers() {
    let clock = Arc::new(ManualClock::at(Fixture::OPENS));
    let running = Running::start(Some(clock.clone()));
    reopened(&running);
    assert_eq!(buy(&running, "stranger"), Err(RECOVERING));
    let adopted = running.block_on(running.engine.adopt(vec![lost("a")], Adoption::Waiting));
    assert_eq!(adopted, Ok(vec![Adopted::Waits]));
    clock.advance(999);
    assert_eq!(buy(&running, "stranger"), Err(RECOVERING));
    clock.advance(1);
    assert!(buy(&running, "stranger").is_ok());
    assert_eq!(buy(&running, "late"), Err(Refusal::SoldOut));
    let taken = running.block_on(running.engine.take(10)).expect("answers");
    assert_eq!(taken.len(), 2);
}

#[test]
fn nobody_is_told_that_he_has_no_ticket_while_tickets_of_the_state_before_are_taken_up() {
    let clock = Arc::new(ManualClock::at(Fixture::OPENS));
    let running = Running::start(Some(clock.clone()));
    reopened(&running);
    let buyer = |user: &str| {
        let user = UserId::new(user).expect("a user id");
        let buyer = running.block_on(running.engine.buyer(Fixture::activity(), &user));
        buyer.map(|buyer| buyer.map(|buyer| buyer.state))
    };
    let recovering = Err(Error::NotReady(NotReady::Recovering));
    assert_eq!(buyer("a"), recovering);
    let adopted = running.block_on(running.engine.adopt(vec![lost("a")], Adoption::Waiting));
    assert_eq!(adopted, Ok(vec![Adopted::Waits]));
    assert_eq!(buyer("a"), Ok(Some(TicketState::Queued)));
    assert_eq!(buyer("stranger"), recovering);
    clock.advance(1_000);
    assert_eq!(buyer("stranger"), Ok(None));
}

#[test]
fn a_clock_that_goes_back_shuts_nobody_out_for_long() {
    let clock = Arc::new(ManualClock::at(Fixture::OPENS.plus(3_600_000)));
    let running = Running::start(Some(clock.clone()));
    reopened(&running);
    assert_eq!(buy(&running, "stranger"), Err(RECOVERING));
    clock.set(Fixture::OPENS);
    assert!(buy(&running, "stranger").is_ok());
}

/// The server is emptied, and a state of this epoch takes the place of the one that it had.
fn replaced(running: &Running, number: u64) {
    running.redis.flush_all();
    let mut opening = opening(2);
    opening.opened.epoch = epoch(number);
    opening.opened.next_sequence = 1_000 * number;
    running.block_on(running.engine.open(opening)).expect("built");
    let figures = running.engine.figures(Fixture::activity());
    running.block_on(figures).expect("answers").expect("a state");
}

fn offered(engine: &Engine) -> Vec<Delivery> {
    let orphans = engine.orphans();
    orphans.into_iter().flat_map(|orphans| orphans.tickets).collect()
}

fn orphans(running: &Running) -> Vec<String> {
    let tickets = offered(&running.engine);
    tickets
        .iter()
        .map(|delivery| delivery.user.as_str().to_owned())
        .collect()
}

#[test]
fn a_ticket_is_remembered_from_loss_to_loss_until_it_is_settled() {
    let running = Running::start(None);
    open(&running, 2);
    buy(&running, "a").expect("admitted");
    // Offered to one that is lost before it takes it in, though it has nothing that waits; then to one that takes it in, and is lost.
    for number in 2..4 {
        replaced(&running, number);
        assert_eq!(orphans(&running), ["a"]);
        assert_eq!(orphans(&running), [""; 0], "once to each");
    }
    for number in 4..6 {
        replaced(&running, number);
        let orphans = offered(&running.engine);
        let adopted = running.block_on(running.engine.adopt(orphans, Adoption::Waiting));
        assert_eq!(adopted, Ok(vec![Adopted::Waits]), "{number}");
    }
    let taken = running.block_on(running.engine.take(10)).expect("answers");
    let verdicts = Verdicts {
        tickets: vec![(taken[0].ticket, Verdict::Conclude(Conclusion::Succeeded))],
        settled_batch: 1,
    };
    running.block_on(running.engine.record(verdicts)).expect("recorded");
    replaced(&running, 6);
    assert!(!running.engine.has_orphans(), "the ledger has it");
}

#[test]
fn a_ticket_that_was_told_again_is_remembered_by_who_told_it() {
    let running = Running::start(None);
    open(&running, 2);
    buy(&running, "a").expect("admitted");
    let other = running.another("other");
    let again = running.block_on(other.claim(vec![Fixture::claim("a", 1, 1)])).remove(0);
    assert!(again.expect("admitted").replayed);
    replaced(&running, 2);
    running.block_on(other.figures(Fixture::activity())).expect("answers");
    let orphans = offered(&other);
    assert_eq!(
        orphans
            .iter()
            .map(|delivery| delivery.user.as_str())
            .collect::<Vec<_>>(),
        ["a"]
    );
}

#[test]
fn whose_ticket_of_a_lost_state_failed_is_no_stranger_of_the_sold_out_one() {
    let running = Running::start(None);
    let mut later = opening(1);
    later.opened.next_sequence = 100;
    let activity = later.opened.terms.activity;
    running.block_on(running.engine.open(later)).expect("built");
    buy(&running, "first").expect("admitted");
    let glance = |user: &str| running.engine.glance(activity, &UserId::new(user).expect("a user id"));
    wait_until("strangers are known", || glance("a") == Glance::SoldOut);
    let failed = Adoption::Failed(FailureReason::StoreOversold);
    let adopted = running.block_on(running.engine.adopt(vec![lost("a")], failed));
    assert_eq!(adopted, Ok(vec![Adopted::Known]));
    wait_until("strangers are known again", || glance("b") == Glance::SoldOut);
    assert_eq!(glance("a"), Glance::Ask);
}
