//! A server that takes nothing more, forgets its scripts, or is gone: the right answer at once, and on by itself when it is back.

use std::time::{Duration, Instant};

use seckill_engine_redis::{Engine, Options};
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{Conclusion, NotReady, Refusal};
use seckill_stock::Stock;
use seckill_stock::conformance::Fixture;

use crate::healing::{RECOVERING, buy_until_answered, confirm};
use crate::sale::{buy, in_all_places, open};
use crate::support::Running;

#[test]
fn scripts_that_the_server_forgot_are_sent_again() {
    let running = Running::start(None);
    open(&running, 5);
    for user in ["a", "b"] {
        assert!(
            running
                .redis
                .command(&["SCRIPT", "FLUSH"])
                .expect("answers")
                .starts_with("+OK")
        );
        assert!(buy(&running, user).is_ok());
    }
}

#[test]
fn a_full_server_admits_nobody_and_still_takes_results() {
    let running = Running::start(None);
    in_all_places(&running);
    let full = ["CONFIG", "SET", "maxmemory", "1"];
    assert!(running.redis.command(&full).expect("answers").starts_with("+OK"));
    assert_eq!(buy(&running, "new"), Err(Refusal::NotReady(NotReady::StoreFull)));
    let taken = running.block_on(running.engine.take(10)).expect("answers");
    let conclude = |ticket| (ticket, Verdict::Conclude(Conclusion::Succeeded));
    let verdicts = Verdicts {
        tickets: taken.iter().map(|delivery| conclude(delivery.ticket)).collect(),
        settled_batch: 0,
    };
    assert_eq!(running.block_on(running.engine.record(verdicts)), Ok(()));
    let figures = running
        .block_on(running.engine.figures(Fixture::activity()))
        .expect("answers");
    assert_eq!(
        figures.map(|figures| figures.queued_tickets),
        Some(1),
        "d is with a worker"
    );
}

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
    // The engine finds it by itself; asking is how a test waits for that. Its state is doubted until somebody vouches for it.
    assert_eq!(buy_until_answered(&running, "new"), Err(RECOVERING));
    assert!(confirm(&running, 2));
    let end = Instant::now() + Duration::from_secs(20);
    while buy(&running, "new").is_err() {
        assert!(Instant::now() < end, "not found again");
        std::thread::yield_now();
    }
    let figures = running.block_on(running.engine.figures(Fixture::activity()));
    let figures = figures.expect("answers").expect("a state");
    assert_eq!((figures.accepted, figures.stock_left, figures.dead_tickets), (6, 4, 1));
    assert_eq!(running.block_on(running.engine.acknowledged_batch()), Ok(5));
}

#[test]
fn a_server_whose_settings_lose_sales_is_refused() {
    let running = Running::start(None);
    for (setting, bad, good) in [
        ("maxmemory-policy", "allkeys-lru", "noeviction"),
        ("appendonly", "no", "yes"),
    ] {
        let set = |value| {
            running
                .redis
                .command(&["CONFIG", "SET", setting, value])
                .expect("answers")
        };
        assert!(set(bad).starts_with("+OK"));
        let options = Options::new(running.redis.url(), "late".to_owned());
        let refused = running
            .block_on(Engine::connect(options))
            .err()
            .map(|error| error.to_string());
        assert!(
            refused.as_ref().is_some_and(|said| said.contains(setting)),
            "{refused:?}"
        );
        assert!(set(good).starts_with("+OK"));
    }
}
