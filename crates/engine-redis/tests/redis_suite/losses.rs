//! A server that lost something: nobody is admitted, and nothing is changed.

use std::sync::Arc;

use seckill_queue::Queue;
use seckill_sale::{Delivery, Epoch, ManualClock, NotReady, Refusal};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Rebase, Stock};

use crate::sale::{buy, in_all_places, key, open, opening};
use crate::support::Running;

const KEYS: [&str; 7] = ["meta", "buyers", "fresh", "back", "due", "order", "dead"];

#[test]
fn each_key_that_is_lost_alone_stops_the_sale_and_changes_nothing() {
    let running = Running::start(None);
    in_all_places(&running);
    for name in KEYS {
        let (key, aside) = (key(name), key(&format!("aside:{name}")));
        let moved = running.redis.command(&["RENAME", &key, &aside]).expect("answers");
        assert!(moved.starts_with("+OK"), "{name}: {moved}");
        assert!(
            matches!(buy(&running, "new"), Err(Refusal::NotReady(_))),
            "without {name}"
        );
        assert!(running.block_on(running.engine.take(10)).is_err(), "without {name}");
        let reopened = running.block_on(running.engine.open(opening(10)));
        assert!(reopened.is_err(), "without {name}: {reopened:?}");
        let moved = running.redis.command(&["RENAME", &aside, &key]).expect("answers");
        assert!(moved.starts_with("+OK"), "{name}: {moved}");
        let figures = running.block_on(running.engine.figures(Fixture::activity()));
        let figures = figures.expect("answers").expect("a state");
        assert_eq!((figures.stock_left, figures.accepted, figures.next_sequence), (5, 5, 6));
    }
    assert!(buy(&running, "new").is_ok());
}

#[test]
fn each_key_of_a_wrong_type_stops_the_sale_and_changes_nothing() {
    let running = Running::start(None);
    in_all_places(&running);
    for name in KEYS {
        let (key, aside) = (key(name), key(&format!("aside:{name}")));
        running.redis.command(&["RENAME", &key, &aside]).expect("answers");
        running.redis.command(&["SET", &key, "what"]).expect("answers");
        let refused = Err(Refusal::NotReady(NotReady::Recovering));
        assert_eq!(buy(&running, "new"), refused, "{name}");
        running.redis.command(&["RENAME", &aside, &key]).expect("answers");
    }
    assert_eq!(running.engine.stock_left(Fixture::activity()), Some(5));
    assert!(buy(&running, "new").is_ok());
}

#[test]
fn an_emptied_server_admits_nobody_until_the_sale_is_opened_anew() {
    let running = Running::start(None);
    let activity = open(&running, 2);
    assert!(buy(&running, "a").is_ok());
    running.redis.flush_all();
    for user in ["a", "b"] {
        assert_eq!(buy(&running, user), Err(Refusal::NotReady(NotReady::NotPreheated)));
    }
    assert_eq!(running.block_on(running.engine.take(10)), Ok(Vec::new()));
    assert_eq!(running.engine.stock_left(activity), None);
    open(&running, 1);
    assert!(buy(&running, "b").is_ok());
    assert_eq!(buy(&running, "c"), Err(Refusal::SoldOut));
}

#[test]
fn a_lost_consumer_group_hands_its_tickets_out_again() {
    let running = Running::start(None);
    in_all_places(&running);
    let group = ["XGROUP", "DESTROY", &key("fresh"), "workers"];
    assert!(running.redis.command(&group).expect("answers").starts_with(":1"));
    let taken = running.block_on(running.engine.take(10)).expect("answers");
    // `b` was retried for a moment long past.
    let users: Vec<_> = taken.iter().map(|delivery| delivery.user.as_str()).collect();
    assert_eq!(users, ["b", "e"], "d is leased apart from the group");
    assert!(buy(&running, "new").is_ok());
}

#[test]
fn a_group_that_was_made_anew_or_moved_leases_what_it_hands_out() {
    let clock = Arc::new(ManualClock::at(Fixture::OPENS));
    let running = Running::start(Some(clock.clone()));
    open(&running, 10);
    let harms: [&[&str]; 3] = [
        &["XGROUP", "DESTROY", &key("fresh"), "workers"],
        &["XGROUP", "SETID", &key("fresh"), "workers", "$"],
        &["XGROUP", "SETID", &key("fresh"), "workers", "0"],
    ];
    for (harm, user) in harms.into_iter().zip(["a", "b", "c"]) {
        let bought = buy(&running, user).expect("admitted").ticket;
        running.redis.command(harm).expect("answers");
        let handed_out = || running.block_on(running.engine.take(10)).expect("answers");
        let has = |taken: Vec<Delivery>| taken.iter().any(|delivery| delivery.ticket == bought);
        assert!(has(handed_out()), "{harm:?}");
        assert!(!has(handed_out()), "{harm:?}: it is with a worker");
        clock.advance(60_000);
        assert!(has(handed_out()), "{harm:?}: its lease is over");
    }
}

#[test]
fn a_state_older_than_one_that_was_seen_admits_nobody() {
    let running = Running::start(None);
    let activity = open(&running, 5);
    let rebase = Rebase {
        activity,
        epoch: Epoch::new(2).expect("in range"),
        left: 5,
        applied_movement: 0,
        may_rise: true,
        requeue: Vec::new(),
    };
    running.block_on(running.engine.rebase(rebase)).expect("done");
    running
        .redis
        .command(&["HSET", &key("meta"), "epoch", "1"])
        .expect("answers");
    assert_eq!(buy(&running, "a"), Err(Refusal::NotReady(NotReady::Recovering)));
    running
        .redis
        .command(&["HSET", &key("meta"), "epoch", "2"])
        .expect("answers");
    assert!(buy(&running, "a").is_ok());
}

#[test]
fn a_stream_whose_ids_an_operator_spoiled_stops_admission_and_nothing_is_taken() {
    let running = Running::start(None);
    let activity = open(&running, 5);
    let spoiled = ["XSETID", &key("fresh"), "18446744073709551615-18446744073709551615"];
    assert!(running.redis.command(&spoiled).expect("answers").starts_with("+OK"));
    assert_eq!(buy(&running, "a"), Err(Refusal::NotReady(NotReady::StoreUnsafe)));
    let figures = running.block_on(running.engine.figures(activity)).expect("answers");
    assert_eq!(
        figures.map(|figures| (figures.stock_left, figures.accepted)),
        Some((5, 0))
    );
}
