//! Copies that an admission must have before its buyer hears of it.

use std::time::Duration;

use seckill_engine_redis::{ConnectError, Durability, Engine, Options};
use seckill_sale::Refusal;
use seckill_stock::conformance::Fixture;
use seckill_stock::{Answer, Stock};
use seckill_testkit::{Network, Proxy, Redis};

use crate::healing::confirm;
use crate::sale::open;
use crate::support::{Running, patient};

const WITHIN: Duration = Duration::from_millis(200);

fn engine(running: &Running, durability: Durability) -> Result<Engine, ConnectError> {
    let options = Options {
        durability,
        ..patient(running.redis.url(), "waiting")
    };
    running.block_on(Engine::connect(options))
}

fn buy(running: &Running, engine: &Engine, user: &str) -> Answer {
    let claims = vec![Fixture::claim(user, 1, 1)];
    running.block_on(engine.claim(claims)).remove(0)
}

/// A replica of the server behind a proxy.
fn replica(running: &Running) -> (Redis, Proxy) {
    let url = running.redis.url();
    let address = url.trim_start_matches("redis://").trim_end_matches('/').parse();
    let link = Proxy::to(address.expect("an address"));
    let replica = Redis::start();
    let port = link.address.port().to_string();
    replica.command(&["REPLICAOF", "127.0.0.1", &port]).expect("answers");
    let info = || replica.command(&["INFO", "replication"]).expect("answers");
    while !info().contains("master_link_status:up") {
        std::thread::yield_now();
    }
    (replica, link)
}

#[test]
fn winners_whom_no_replica_has_hear_that_their_outcome_is_unknown() {
    let running = Running::start(None);
    open(&running, 3);
    let (_replica, link) = replica(&running);
    assert!(confirm(&running, 2), "a server takes a new id with its first replica");
    let durability = Durability::Wait {
        replicas: 1,
        within: WITHIN,
    };
    let engine = engine(&running, durability).expect("connected");
    // A busy machine may answer later than it should: asking again is what a buyer does.
    while buy(&running, &engine, "a") == Err(Refusal::OutcomeUnknown) {}
    assert!(buy(&running, &engine, "a").is_ok_and(|reserved| reserved.replayed));
    link.set(Network::BlackHole);
    assert_eq!(buy(&running, &engine, "b"), Err(Refusal::OutcomeUnknown));
    // The same request again was written by the first, and is in no replica either.
    assert_eq!(buy(&running, &engine, "b"), Err(Refusal::OutcomeUnknown));
    let too_many = vec![Fixture::claim("c", 1, 2)];
    let refused = running.block_on(engine.claim(too_many)).remove(0);
    assert_eq!(refused, Err(Refusal::SoldOut), "who is refused has nothing to wait for");
    link.set(Network::Fine);
    let mut answer = buy(&running, &engine, "b");
    while answer == Err(Refusal::OutcomeUnknown) {
        answer = buy(&running, &engine, "b");
    }
    assert!(answer.is_ok_and(|reserved| reserved.replayed));
    let figures = running.block_on(engine.figures(Fixture::activity())).expect("answers");
    assert_eq!(
        figures.map(|figures| (figures.stock_left, figures.accepted)),
        Some((1, 2))
    );
}

#[test]
fn what_a_server_cannot_do_is_refused_at_the_start() {
    let running = Running::start(None);
    let waits = |within| Durability::Wait { replicas: 1, within };
    let refused = engine(&running, waits(Duration::from_secs(60))).err().expect("refused");
    assert!(refused.to_string().contains("answers are given up after"), "{refused}");
    let on_disk = Durability::WaitAof {
        replicas: 0,
        within: WITHIN,
    };
    let has_waitaof = running
        .redis
        .command(&["COMMAND", "INFO", "WAITAOF"])
        .expect("answers")
        .contains("waitaof");
    match engine(&running, on_disk) {
        Ok(engine) => {
            assert!(has_waitaof);
            open(&running, 3);
            assert!(buy(&running, &engine, "a").is_ok());
        }
        Err(refused) => {
            assert!(!has_waitaof);
            assert!(refused.to_string().contains("Redis 7.2"), "{refused}");
        }
    }
}
