//! A state that may be older than what was promised is used by nobody until somebody vouches for it.

use seckill_queue::Queue;
use seckill_sale::{Epoch, NotReady, Refusal, Shards, Status, Terms};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Condition, Confirmed, Counted, GivenUp, OpenOutcome, Stock};
use seckill_testkit::Redis;

use crate::sale::{buy, key, open};
use crate::support::Running;

pub const RECOVERING: Refusal = Refusal::NotReady(NotReady::Recovering);

pub fn epoch(number: u64) -> Epoch {
    Epoch::new(number).expect("in range")
}

pub fn condition(running: &Running) -> Condition {
    let condition = running.engine.condition(Fixture::activity());
    running.block_on(condition).expect("answers")
}

/// Buys as often as it takes the link to come back.
pub fn buy_until_answered(running: &Running, user: &str) -> seckill_stock::Answer {
    let mut answer = buy(running, user);
    while matches!(answer, Err(Refusal::Busy | Refusal::OutcomeUnknown)) {
        answer = buy(running, user);
    }
    answer
}

pub fn confirm(running: &Running, number: u64) -> bool {
    let Condition::Doubtful(figures) = condition(running) else {
        panic!("{:?}", condition(running));
    };
    let confirmed = Confirmed {
        activity: Fixture::activity(),
        epoch: epoch(number),
        next_sequence: 1_000,
        counted: Some(Counted {
            revision: figures.revision,
            left: figures.stock_left,
            applied_movement: figures.applied_movement,
        }),
        grace_ms: 0,
    };
    running.block_on(running.engine.confirm(confirmed)).expect("answers")
}

#[test]
fn a_server_that_started_anew_admits_nobody_until_its_state_is_confirmed() {
    let mut running = Running::start(None);
    open(&running, 3);
    let ticket = buy(&running, "a").expect("admitted").ticket;
    running.redis.kill();
    running.redis.start_again();
    assert_eq!(buy_until_answered(&running, "b"), Err(RECOVERING));
    assert!(running.block_on(running.engine.take(10)).is_err());
    assert!(confirm(&running, 2));
    assert_eq!(condition(&running), Condition::Sound { epoch: Some(epoch(2)) });
    assert_eq!(buy(&running, "a").map(|reserved| reserved.ticket), Ok(ticket));
    let next = buy(&running, "b").expect("admitted").ticket;
    assert_eq!((next.epoch, next.sequence), (epoch(2), 1_000));
    let taken = running.block_on(running.engine.take_of_state(10)).expect("answers");
    assert_eq!((taken.tickets.len(), taken.epoch), (2, Some(epoch(2))));
}

#[test]
fn a_replica_that_is_promoted_and_a_master_that_comes_back_are_doubted() {
    let running = Running::start(None);
    open(&running, 3);
    buy(&running, "a").expect("admitted");
    let other = Redis::start();
    let port = |redis: &Redis| {
        redis
            .url()
            .rsplit(':')
            .next()
            .map(|port| port.trim_end_matches('/').to_owned())
    };
    let follow = |follower: &Redis, leader: &Redis| {
        let port = port(leader).expect("a port");
        follower.command(&["REPLICAOF", "127.0.0.1", &port]).expect("answers");
        while !follower
            .command(&["INFO", "replication"])
            .expect("answers")
            .contains("master_link_status:up")
        {
            std::thread::yield_now();
        }
    };
    follow(&other, &running.redis);
    // The first replica of a server gives it a new id.
    assert!(confirm(&running, 2));
    buy(&running, "b").expect("admitted");
    // There and back again: nobody looked in between, and the master is one again as its own replica's copy.
    other.command(&["REPLICAOF", "NO", "ONE"]).expect("answers");
    follow(&running.redis, &other);
    running.redis.command(&["REPLICAOF", "NO", "ONE"]).expect("answers");
    assert_eq!(buy(&running, "c"), Err(RECOVERING));
    assert!(confirm(&running, 3));
    buy(&running, "c").expect("admitted");
}

#[test]
fn a_doubtful_state_is_confirmed_only_as_it_was_counted_and_a_sound_one_only_raised() {
    let running = Running::start(None);
    open(&running, 3);
    let raise = |number| Confirmed {
        activity: Fixture::activity(),
        epoch: epoch(number),
        next_sequence: 50,
        counted: None,
        grace_ms: 0,
    };
    assert!(running.block_on(running.engine.confirm(raise(4))).expect("answers"));
    assert!(running.block_on(running.engine.confirm(raise(3))).expect("answers"));
    assert_eq!(
        buy(&running, "a").map(|reserved| (reserved.ticket.epoch, reserved.ticket.sequence)),
        Ok((epoch(4), 50))
    );
    running
        .redis
        .command(&["HSET", &key("meta"), "server", "another"])
        .expect("answers");
    assert!(running.block_on(running.engine.confirm(raise(9))).is_err());
    let Condition::Doubtful(figures) = condition(&running) else {
        panic!("doubtful")
    };
    let counted = Counted {
        revision: figures.revision - 1,
        left: 3,
        applied_movement: 0,
    };
    let stale = Confirmed {
        counted: Some(counted),
        ..raise(5)
    };
    assert!(!running.block_on(running.engine.confirm(stale)).expect("answers"));
    assert_eq!(buy(&running, "b"), Err(RECOVERING));
}

#[test]
fn a_confirmation_that_comes_after_a_later_state_was_built_changes_nothing() {
    let running = Running::start(None);
    let activity = open(&running, 3);
    // Two changes, as many as the state that comes after it has had by then.
    let terms = crate::sale::opening(3).opened.terms;
    for status in [Status::Paused, Status::Running] {
        let changed = running.block_on(running.engine.change(Terms { status, ..terms }));
        assert_eq!(changed, Ok(()));
    }
    running
        .redis
        .command(&["HSET", &key("meta"), "server", "another"])
        .expect("answers");
    let Condition::Doubtful(figures) = condition(&running) else {
        panic!("doubtful")
    };
    let late = Confirmed {
        activity,
        epoch: epoch(2),
        next_sequence: 50,
        counted: Some(Counted {
            revision: figures.revision,
            left: figures.stock_left,
            applied_movement: figures.applied_movement,
        }),
        grace_ms: 0,
    };
    let given_up = running.block_on(running.engine.give_up(activity, Shards::ONE, epoch(3)));
    assert_eq!(given_up, Ok(GivenUp::Remains(Vec::new())));
    let mut opening = crate::sale::opening(3);
    opening.opened.epoch = epoch(3);
    assert_eq!(running.block_on(running.engine.open(opening)), Ok(OpenOutcome::Created));
    for user in ["a", "b"] {
        buy(&running, user).expect("admitted");
    }
    let now = running
        .block_on(running.engine.figures(activity))
        .expect("answers")
        .expect("a state");
    assert_eq!(
        (now.revision, now.stock_left),
        (figures.revision, 1),
        "the two look alike"
    );
    assert_eq!(running.block_on(running.engine.confirm(late)), Ok(false));
    let then = running
        .block_on(running.engine.figures(activity))
        .expect("answers")
        .expect("a state");
    assert_eq!(then, now);
}
