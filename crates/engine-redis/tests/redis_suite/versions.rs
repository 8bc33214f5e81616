//! Entries of the queue that another version wrote: older ones are read, later ones are left to those who can read them.

use seckill_engine_redis::Engine;
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{Conclusion, Delivery};
use seckill_stock::Stock;

use crate::sale::{buy, key, open};
use crate::support::Running;

/// Puts other fields into the newest entry.
fn rewrites(running: &Running, id: &str, fields: &[&str]) {
    let (fresh, sequence) = (
        key("fresh"),
        id.split('-').next().and_then(|digits| digits.parse::<u64>().ok()),
    );
    let before = format!("{}-999", sequence.expect("a sequence") - 1);
    running.redis.expect(&["XDEL", &fresh, id], ":1");
    running.redis.expect(&["XSETID", &fresh, &before], "+OK");
    running
        .redis
        .expect(&[&["XADD", &fresh, id, "epoch", "1", "at", "1"], fields].concat(), "$");
}

/// With the number of a later version, and winners in a way of its own.
fn becomes_newer(running: &Running, id: &str) {
    rewrites(running, id, &["v", "2", "people", "{}"]);
}

fn takes(running: &Running, engine: &Engine) -> Vec<String> {
    let taken = running.block_on(engine.take(10)).expect("answers");
    taken
        .iter()
        .map(|delivery: &Delivery| delivery.user.as_str().to_owned())
        .collect()
}

#[test]
fn an_entry_of_a_later_version_is_left_where_it_is_and_what_lies_before_it_is_settled() {
    let running = Running::start(None);
    let activity = open(&running, 10);
    let ours = buy(&running, "ours").expect("admitted").ticket;
    buy(&running, "theirs").expect("admitted");
    becomes_newer(&running, "2-1");
    assert_eq!(takes(&running, &running.engine), ["ours"]);
    let verdicts = Verdicts {
        tickets: vec![(ours, Verdict::Conclude(Conclusion::Succeeded))],
        settled_batch: 1,
    };
    running.block_on(running.engine.record(verdicts)).expect("recorded");
    for _ in 0..3 {
        assert!(takes(&running, &running.engine).is_empty());
    }
    // The sale goes on meanwhile.
    assert_eq!(buy(&running, "later").expect("admitted").ticket.sequence, 3);
    let figures = running
        .block_on(running.engine.figures(activity))
        .expect("answers")
        .expect("a state");
    assert_eq!(
        (figures.queued_tickets, figures.dead_tickets, figures.accepted),
        (2, 0, 3)
    );
    running.redis.expect(&["XLEN", &key("fresh")], ":2");
    running
        .redis
        .expect(&["XPENDING", &key("fresh"), "workers"], "*4\r\n:0");
    // Of this version after all, and it says so.
    let theirs = format!("theirs 1 {} r1", "01".repeat(16));
    running.redis.expect(&["XDEL", &key("fresh"), "3-1"], ":1");
    rewrites(&running, "2-1", &["v", "1", "winners", &theirs]);
    let later = format!("later 1 {} r1", "02".repeat(16));
    let fields = ["XADD", &key("fresh"), "3-1", "epoch", "1", "at", "1", "winners", &later];
    running.redis.expect(&fields, "$");
    let fresh_eyes = running.another("fresh eyes");
    assert_eq!(takes(&running, &fresh_eyes), ["theirs", "later"]);
}

#[test]
fn an_entry_that_a_worker_of_a_later_version_has_is_left_to_another_one_when_its_lease_is_over() {
    let running = Running::start(None);
    open(&running, 10);
    buy(&running, "theirs").expect("admitted");
    becomes_newer(&running, "1-1");
    // A worker of that version has taken it, and is gone; a process of ours has its name now.
    let (fresh, meta) = (key("fresh"), key("meta"));
    let take = [
        "XREADGROUP",
        "GROUP",
        "workers",
        "brisk",
        "COUNT",
        "1",
        "STREAMS",
        &fresh,
        ">",
    ];
    running.redis.expect(&take, "*1");
    running.redis.expect(
        &[
            "HSET",
            &meta,
            "cursor",
            "1-1",
            "pending",
            "1",
            "fresh_at",
            "0",
            "leased_at",
            "1",
        ],
        ":",
    );
    running.redis.expect(
        &[
            "XCLAIM", &fresh, "workers", "brisk", "0", "1-1", "IDLE", "90000", "JUSTID",
        ],
        "*1",
    );
    let another = running.another("brisk");
    for engine in [&another, &running.engine, &another] {
        assert!(takes(&running, engine).is_empty());
    }
    running.redis.expect(&["XLEN", &fresh], ":1");
    let idle = ["XPENDING", &fresh, "workers", "IDLE", "30000", "-", "+", "10"];
    running.redis.expect(&idle, "*1");
    assert!(buy(&running, "later").is_ok());
    assert_eq!(
        takes(&running, &running.another("fresh eyes")),
        ["later"],
        "it passes what others have"
    );
}
