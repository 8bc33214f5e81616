//! A server that is gone, or hangs: nobody waits for it, and the engine goes on by itself when it is back.

use std::thread;
use std::time::{Duration, Instant};

use seckill_engine_redis::{Engine, Options};
use seckill_sale::Refusal;
use seckill_stock::conformance::Fixture;
use seckill_stock::{Glance, Stock};
use seckill_testkit::Redis;

use crate::sale::{buy, buy_in_the_end, in_all_places, open};
use crate::sold_out::{glance, wait_until};
use crate::support::{Running, brisk};

#[test]
fn a_killed_server_is_refused_at_once_and_found_again_with_everything_it_acknowledged() {
    let mut running = Running::start(None);
    in_all_places(&running);
    running.redis.kill();
    let refused = buy(&running, "new").expect_err("nobody is there");
    assert!(
        matches!(refused, Refusal::OutcomeUnknown | Refusal::Busy),
        "{refused:?}"
    );
    let began = Instant::now();
    for _ in 0..1_000 {
        assert_eq!(buy(&running, "new"), Err(Refusal::Busy), "nobody waits");
    }
    assert!(began.elapsed() < Duration::from_secs(10), "a thousand do not pile up");
    running.redis.start_again();
    // The engine finds it by itself; asking is how a test waits for that.
    buy_in_the_end(&running, "new");
    let figures = running.block_on(running.engine.figures(Fixture::activity()));
    let figures = figures.expect("answers").expect("a state");
    assert_eq!((figures.accepted, figures.stock_left, figures.dead_tickets), (6, 4, 1));
    assert_eq!(running.block_on(running.engine.acknowledged_batch()), Ok(5));
}

#[test]
fn a_server_that_hangs_keeps_one_caller_and_nobody_after_him() {
    let mut running = Running::start(None);
    let activity = open(&running, 2);
    buy(&running, "a").expect("admitted");
    // One that is patient for half a second only.
    let options = Options::new(running.url.clone(), "impatient".to_owned());
    running.engine = running.block_on(Engine::connect(options)).expect("connected");
    // The command is read on a connection that is open before; it answers when the sleep is over.
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| running.redis.command(&["DEBUG", "SLEEP", "2"]));
        // Until the server sleeps, claims of a user who has his ticket change nothing.
        while buy(&running, "a").is_ok() {}
        for _ in 0..100 {
            assert_eq!(buy(&running, "b"), Err(Refusal::Busy), "nobody waits for it");
        }
        sleeper.join().expect("no panic").expect("answers");
    });
    buy_in_the_end(&running, "b");
    let figures = running.block_on(running.engine.figures(activity)).expect("answers");
    assert_eq!(
        figures.map(|figures| (figures.stock_left, figures.accepted)),
        Some((0, 2))
    );
}

#[test]
fn a_server_that_closes_its_connections_is_connected_to_again() {
    let redis = Redis::start();
    let options = brisk(redis.url(), "brisk");
    let running = Running::on(redis, options, None);
    open(&running, 10);
    for user in ["a", "b", "c"] {
        running.redis.expect(&["CLIENT", "KILL", "TYPE", "normal"], ":");
        buy_in_the_end(&running, user);
    }
    let figures = running.block_on(running.engine.figures(Fixture::activity()));
    assert_eq!(figures.expect("answers").map(|figures| figures.accepted), Some(3));
}

#[test]
fn what_is_known_of_a_sold_out_sale_ends_with_the_server() {
    let mut running = Running::start(None);
    open(&running, 1);
    buy(&running, "a").expect("admitted");
    wait_until("it is known", || glance(&running.engine, "stranger") == Glance::SoldOut);
    running.redis.kill();
    wait_until("old readings refuse nobody", || {
        glance(&running.engine, "stranger") == Glance::Ask
    });
}
