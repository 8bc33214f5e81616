//! What a node knows of a paused sale without asking: strangers have no ticket, buyers are never taken for such, and an end of the pause is
//! seen.

use std::task::{Context, Waker};

use seckill_engine_redis::Engine;
use seckill_sale::{Claim, EpochMs, Hold, Status};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Brake, Glance, Stock};

use crate::sale::{buy, open};
use crate::sold_out::{glance, wait_until};
use crate::support::{Running, patient};

const HOLD: Hold = Hold {
    held_at: EpochMs(7),
    resumes_at: None,
};

/// Nobody waits for its answer, nor asks a second time for it with the script.
#[test]
fn a_hold_that_nobody_waits_for_is_done_before_what_is_asked_next_by_a_server_that_forgot_its_scripts() {
    let running = Running::start(None);
    let activity = open(&running, 10);
    running.redis.command(&["SCRIPT", "FLUSH"]).expect("forgotten");
    running.block_on(async {
        let mut hold = running.engine.hold(activity, HOLD);
        let begun = hold.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(begun.is_pending(), "it is asked for");
        running.engine.figures(activity).await.expect("the store answers");
        assert_eq!(running.engine.held(activity), Some(HOLD));
        hold.await.expect("held");
    });
}

fn until_strangers_are_known(node: &Engine) {
    wait_until("it is known", || glance(node, "stranger") == Glance::Stranger);
}

#[test]
fn strangers_of_a_held_sale_are_known_from_memory_and_buyers_are_no_strangers() {
    let running = Running::start(None);
    let activity = open(&running, 10);
    let other = running
        .block_on(Engine::connect(patient(running.url.clone(), "other")))
        .expect("connected");
    buy(&running, "a").expect("admitted");
    assert_eq!(glance(&running.engine, "stranger"), Glance::Ask);
    // Somebody whom another node admits in the last moment.
    let late: Claim = Fixture::claim("late", 1, 1);
    running.block_on(other.claim(vec![late])).remove(0).expect("admitted");
    running.block_on(other.hold(activity, HOLD)).expect("held");
    for node in [&running.engine, &other] {
        until_strangers_are_known(node);
        assert_eq!([glance(node, "a"), glance(node, "late")], [Glance::Ask, Glance::Ask]);
    }
    running.block_on(other.release(activity, HOLD)).expect("released");
    wait_until("it sells again", || glance(&running.engine, "stranger") == Glance::Ask);
    buy(&running, "b").expect("admitted");
    let again = Hold {
        held_at: EpochMs(8),
        ..HOLD
    };
    running.block_on(running.engine.hold(activity, again)).expect("held");
    until_strangers_are_known(&other);
    assert_eq!(glance(&other, "b"), Glance::Ask);
}

#[test]
fn of_a_sale_that_is_paused_by_its_rules_they_are_known_and_of_one_that_is_closed_they_are_not() {
    let running = Running::start(None);
    let activity = open(&running, 10);
    buy(&running, "a").expect("admitted");
    let change = |status| {
        let mut terms = crate::sale::opening(10).opened.terms;
        (terms.activity, terms.status) = (activity, status);
        running.block_on(running.engine.change(terms)).expect("changed");
    };
    change(Status::Paused);
    until_strangers_are_known(&running.engine);
    assert_eq!(glance(&running.engine, "a"), Glance::Ask);
    // Closed sales are many, and nobody comes to them.
    change(Status::Closed);
    wait_until("it is asked", || glance(&running.engine, "stranger") == Glance::Ask);
}
