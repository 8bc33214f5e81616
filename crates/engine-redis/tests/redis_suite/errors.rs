//! What a server says when it does not do what it is asked, and what the caller makes of it: nothing was changed, and why.

use seckill_sale::{NotReady, Refusal};
use seckill_stock::Stock;
use seckill_stock::conformance::Fixture;

use crate::sale::{buy, open, vouch};
use crate::sold_out::wait_until;
use crate::support::Running;

/// The server is brought to say it by `harm`, and set right by `cure`.
fn check(code: &str, harm: &[&[&str]], cure: &[&[&str]], expected: &Refusal) {
    let running = Running::start(None);
    let activity = open(&running, 5);
    buy(&running, "a").expect("admitted");
    for words in harm {
        running.redis.expect(words, "+");
    }
    let said =
        [&["SET", "{a:7:0}:aside", "1"][..], &["GET", "{a:7:0}:aside"]].map(|words| running.redis.command(words));
    let says = |said: &std::io::Result<String>| said.as_ref().is_ok_and(|said| said.starts_with(&format!("-{code}")));
    assert!(said.iter().any(says), "{said:?}");
    assert_eq!(buy(&running, "b").as_ref(), Err(expected), "{code}");
    for words in cure {
        running.redis.expect(words, "+");
    }
    wait_until("it sells again", || {
        vouch(&running);
        buy(&running, "b").is_ok()
    });
    let figures = running.block_on(running.engine.figures(activity)).expect("answers");
    let figures = figures.expect("a state");
    assert_eq!((figures.accepted, figures.stock_left), (2, 3), "{code}: once");
}

const READ_ONLY: Refusal = Refusal::NotReady(NotReady::StoreReadOnly);

#[test]
fn readonly_changes_nothing() {
    let cure: &[&[&str]] = &[&["REPLICAOF", "NO", "ONE"]];
    check("READONLY", &[&["REPLICAOF", "127.0.0.1", "1"]], cure, &READ_ONLY);
}

#[test]
fn masterdown_changes_nothing() {
    let harm: &[&[&str]] = &[
        &["CONFIG", "SET", "replica-serve-stale-data", "no"],
        &["REPLICAOF", "127.0.0.1", "1"],
    ];
    check("MASTERDOWN", harm, &[&["REPLICAOF", "NO", "ONE"]], &READ_ONLY);
}

#[test]
fn noreplicas_changes_nothing() {
    let set = |count| ["CONFIG", "SET", "min-replicas-to-write", count];
    check("NOREPLICAS", &[&set("1")], &[&set("0")], &READ_ONLY);
}

#[test]
fn oom_changes_nothing() {
    let set = |bytes| ["CONFIG", "SET", "maxmemory", bytes];
    check(
        "OOM",
        &[&set("1")],
        &[&set("0")],
        &Refusal::NotReady(NotReady::StoreFull),
    );
}

#[test]
fn misconf_changes_nothing() {
    let running = Running::start(None);
    open(&running, 5);
    // A snapshot cannot take the place of a folder.
    std::fs::create_dir_all(running.redis.folder().join("dump.rdb/in-the-way")).expect("a writable folder");
    running.redis.expect(&["CONFIG", "SET", "save", "3600 1"], "+OK");
    running.redis.expect(&["BGSAVE"], "+Background");
    running
        .redis
        .until(&["INFO", "persistence"], "rdb_last_bgsave_status:err");
    assert_eq!(buy(&running, "a"), Err(READ_ONLY));
    running.redis.expect(&["CONFIG", "SET", "save", ""], "+OK");
    buy(&running, "a").expect("admitted");
}

#[test]
fn busy_changes_nothing() {
    let running = Running::start(None);
    open(&running, 5);
    running
        .redis
        .expect(&["CONFIG", "SET", "busy-reply-threshold", "1"], "+OK");
    std::thread::scope(|scope| {
        let endless = scope.spawn(|| running.redis.command(&["EVAL", "while true do end", "0"]));
        running.redis.until(&["PING"], "-BUSY");
        assert_eq!(buy(&running, "a"), Err(Refusal::Busy));
        running.redis.until(&["SCRIPT", "KILL"], "+OK");
        let ended = endless.join().expect("no panic").expect("answers");
        assert!(ended.contains("killed by user"), "{ended}");
    });
    wait_until("it sells again", || buy(&running, "a").is_ok());
    let figures = running.block_on(running.engine.figures(Fixture::activity()));
    assert_eq!(figures.expect("answers").map(|figures| figures.accepted), Some(1));
}

#[test]
fn a_server_that_is_still_loading_changes_nothing() {
    let mut running = Running::start(None);
    open(&running, 5);
    buy(&running, "a").expect("admitted");
    let many = "for n = 1, 4096 do redis.call('SET', 'filler:' .. n, 'x') end return redis.status_reply('OK')";
    running.redis.expect(&["EVAL", many, "0"], "+OK");
    running.redis.kill();
    wait_until("it is gone", || buy(&running, "b") == Err(Refusal::Busy));
    running.redis.start_loading();
    running.redis.until(&["GET", "{a:7:0}:aside"], "-LOADING");
    assert!(matches!(buy(&running, "b"), Err(Refusal::Busy)));
    running.redis.until(&["PING"], "+PONG");
    wait_until("it sells again", || {
        vouch(&running);
        buy(&running, "b").is_ok()
    });
}

#[test]
fn a_right_that_is_taken_away_changes_nothing() {
    let running = Running::start(None);
    open(&running, 5);
    let take = ["ACL", "SETUSER", "default", "-xadd"];
    running.redis.expect(&take, "+OK");
    assert_eq!(buy(&running, "a"), Err(Refusal::NotReady(NotReady::StoreUnsafe)));
    running.redis.expect(&["ACL", "SETUSER", "default", "+xadd"], "+OK");
    buy(&running, "a").expect("admitted");
    // Nobody is told then, and nothing else is missing.
    running.redis.expect(&["ACL", "SETUSER", "default", "-spublish"], "+OK");
    buy(&running, "b").expect("admitted");
    let figures = running.block_on(running.engine.figures(Fixture::activity()));
    assert_eq!(figures.expect("answers").map(|figures| figures.accepted), Some(2));
}
