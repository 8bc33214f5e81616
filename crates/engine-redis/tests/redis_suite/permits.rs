//! Permits over restarts, beside sales, and where something else lies in their place.

use std::time::Duration;

use seckill_engine_redis::{Durability, Engine, Options};
use seckill_sale::EpochMs;
use seckill_stock::conformance::Fixture;
use seckill_stock::{Error, Stock};

use crate::sale::{buy, open};
use crate::support::{Running, patient};

const KEY: [u8; 16] = [0xab; 16];
const NAME: &str = "{p:abababababababababababababababab}";

fn permit(running: &Running, key: [u8; 16], until: EpochMs) -> Result<bool, Error> {
    running.block_on(running.engine.permit(key, 1, until))
}

/// Long after the end of the test, by the server's clock.
fn later() -> EpochMs {
    seckill_sale::Clock::now(&seckill_sale::SystemClock).plus(600_000)
}

#[test]
fn a_permit_that_was_taken_is_taken_after_a_restart_and_on_another_node() {
    let mut running = Running::start(None);
    let until = later();
    assert_eq!(permit(&running, KEY, until), Ok(true));
    let another = running.another("test-2");
    assert_eq!(running.block_on(another.permit(KEY, 1, until)), Ok(false));
    running.redis.kill();
    running.redis.start_again();
    let mut answer = permit(&running, KEY, until);
    while answer == Err(Error::Unavailable) || answer == Err(Error::OutcomeUnknown) {
        answer = permit(&running, KEY, until);
    }
    assert_eq!(answer, Ok(false));
    assert_eq!(permit(&running, [1; 16], until), Ok(true));
}

#[test]
fn many_connections_at_once_have_one_permit_between_them() {
    let running = Running::start(None);
    let nodes: Vec<Engine> = (0..4).map(|n| running.another(&format!("node-{n}"))).collect();
    let until = later();
    let asked: Vec<_> = nodes
        .iter()
        .cycle()
        .take(100)
        .map(|node| {
            let node = node.clone();
            async move { node.permit(KEY, 1, until).await }
        })
        .collect();
    let had = running.block_on(async {
        let asked: Vec<_> = asked.into_iter().map(tokio::spawn).collect();
        let mut had = 0;
        for answer in asked {
            had += u32::from(answer.await.expect("ends").expect("answers"));
        }
        had
    });
    assert_eq!(had, 1);
}

#[test]
fn the_server_forgets_a_permit_by_itself_and_no_sale_minds_it() {
    let running = Running::start(None);
    open(&running, 3);
    let until = later();
    assert_eq!(permit(&running, KEY, until), Ok(true));
    let ends_at = running.redis.command(&["PEXPIRETIME", NAME]).expect("answers");
    // Counted from the moment at which the server keeps it, a little after the one that it was asked at.
    let ends_at: i64 = ends_at.trim().trim_start_matches(':').parse().expect("a moment");
    let late = ends_at - until.0;
    assert!((0..1_000).contains(&late), "{late} ms");
    assert_eq!(
        running.block_on(running.engine.activities()),
        Ok(vec![Fixture::activity()])
    );
    assert!(buy(&running, "a").is_ok());
    running
        .block_on(running.engine.forget(Fixture::activity()))
        .expect("done");
    assert_eq!(permit(&running, KEY, until), Ok(false));
}

#[test]
fn what_lies_in_a_permits_place_and_is_none_counts_as_nothing() {
    let running = Running::start(None);
    running.redis.expect(&["SADD", NAME, "foreign"], ":1");
    assert_eq!(permit(&running, KEY, later()), Ok(true));
    assert_eq!(permit(&running, KEY, later()), Ok(false));
    running.redis.expect(&["SET", NAME, "1 soon"], "+OK");
    assert_eq!(permit(&running, KEY, later()), Ok(true));
}

#[test]
fn a_permit_without_the_copies_that_were_asked_for_is_not_known_to_be_taken() {
    let running = Running::start(None);
    let options = Options {
        durability: Durability::Wait {
            replicas: 1,
            within: Duration::from_millis(50),
        },
        ..patient(running.url.clone(), "waiting")
    };
    let engine = running.block_on(Engine::connect(options)).expect("connected");
    let until = later();
    assert_eq!(
        running.block_on(engine.permit(KEY, 1, until)),
        Err(Error::OutcomeUnknown)
    );
    assert_eq!(running.block_on(engine.permit(KEY, 1, until)), Ok(false));
}
