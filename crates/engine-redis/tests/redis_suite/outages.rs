//! Servers that take nothing more, or forget their scripts: the right answer at once.

use seckill_engine_redis::{Engine, Options};
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{Conclusion, NotReady, Refusal};
use seckill_stock::Stock;
use seckill_stock::conformance::Fixture;

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
        let options = Options::new(running.url.clone(), "late".to_owned());
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
