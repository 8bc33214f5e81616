//! What a node knows of a sold-out sale without asking: strangers are refused, buyers never, and units that come back are seen.

use std::sync::Arc;
use std::time::{Duration, Instant};

use seckill_engine_redis::Engine;
use seckill_sale::{Refusal, UserId};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Batcher, Glance, Stock};

use crate::sale::{buy, claim, open};
use crate::support::{Running, patient};

pub fn glance(node: &Engine, user: &str) -> Glance {
    node.glance(Fixture::activity(), &UserId::new(user).expect("valid"))
}

/// What a node learns by itself is waited for by asking.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn strangers_are_refused_from_memory_and_buyers_never() {
    let running = Running::start(None);
    let activity = open(&running, 3);
    let other = running
        .block_on(Engine::connect(patient(running.url.clone(), "other")))
        .expect("connected");
    for user in ["a", "b", "c"] {
        assert_eq!(glance(&running.engine, "stranger"), Glance::Ask);
        buy(&running, user).expect("admitted");
    }
    for node in [&running.engine, &other] {
        wait_until("both nodes know", || glance(node, "stranger") == Glance::SoldOut);
        for user in ["a", "b", "c"] {
            assert_eq!(glance(node, user), Glance::Ask);
        }
    }
    running.block_on(other.apply_movement(activity, 1, 1)).expect("done");
    wait_until("open again", || glance(&running.engine, "stranger") == Glance::Ask);
    buy(&running, "d").expect("admitted");
    assert_eq!(buy(&running, "e"), Err(Refusal::SoldOut));
    wait_until("sold out again", || {
        glance(&running.engine, "stranger") == Glance::SoldOut
    });
    assert_eq!(glance(&running.engine, "d"), Glance::Ask);
}

#[test]
fn what_is_known_ends_with_the_subscription_and_comes_back_with_it() {
    let running = Running::start(None);
    open(&running, 1);
    buy(&running, "a").expect("admitted");
    wait_until("it is known", || glance(&running.engine, "stranger") == Glance::SoldOut);
    running
        .redis
        .expect(&["ACL", "SETUSER", "default", "-ssubscribe"], "+OK");
    running.redis.expect(&["CLIENT", "KILL", "TYPE", "pubsub"], ":");
    // Readings are as fresh as before, but what others admit would not be heard of.
    wait_until("nobody is refused", || {
        glance(&running.engine, "stranger") == Glance::Ask
    });
    running
        .redis
        .expect(&["ACL", "SETUSER", "default", "+ssubscribe"], "+OK");
    wait_until("it is known again", || {
        glance(&running.engine, "stranger") == Glance::SoldOut
    });
}

#[test]
fn claims_gather_while_a_call_is_with_the_server() {
    const BUYERS: u64 = 1_000;
    let running = Running::start(None);
    open(&running, BUYERS);
    // The server learns the script.
    claim(&running, vec![Fixture::claim("first", 1, 1)])
        .remove(0)
        .expect("admitted");
    let calls = || {
        let stats = running.redis.command(&["INFO", "commandstats"]).expect("answers");
        let of_scripts = stats
            .lines()
            .find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
        let calls = of_scripts.and_then(|rest| rest.split(',').next()?.parse::<u64>().ok());
        calls.expect("scripts were called")
    };
    let before = calls();
    let answers = running.block_on(async {
        let (batcher, claims) = Batcher::new(Arc::new(running.engine.clone()), 10_000);
        tokio::spawn(batcher.run());
        let waiting: Vec<_> = (0..BUYERS)
            .map(|n| tokio::spawn(claims.claim(Fixture::claim(&format!("u{n}"), 1, 1))))
            .collect();
        let mut answers = Vec::new();
        for answer in waiting {
            answers.push(answer.await.expect("no panic"));
        }
        answers
    });
    assert_eq!(answers.iter().flatten().count() as u64, BUYERS - 1);
    assert!(calls() - before < BUYERS / 10, "{} calls", calls() - before);
}
