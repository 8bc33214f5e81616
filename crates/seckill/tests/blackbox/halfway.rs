//! Processes that are refused at the last moment of their start: they have not worked, and leave nothing behind.

use std::thread;
use std::time::Duration;

use seckill_testkit::{Held, Postgres, Redis, Server};
use serde_json::json;

use crate::program;
use crate::strangers::{ANOTHER_DATABASE, settings};

/// A process that stands in its start, behind the first look at the others, until it is let go.
struct Halfway {
    redis: Redis,
    process: Server,
    held: Held,
}

impl Halfway {
    fn on(database: &Postgres) -> Self {
        let redis = Redis::start();
        let (url, orders) = (redis.url(), database.url());
        let mut process = Server::start_with(&program(), &settings(&url, &orders));
        assert!(process.terminate().success());
        // Both are as new as at a first start, but for the name that the database can't be given now.
        let _ = database.say("UPDATE installation SET installation_id = NULL");
        redis.expect(&["DEL", "{seckill}:installation"], ":1");
        let held = database.hold("BEGIN; SELECT * FROM installation FOR UPDATE");
        process.spawn();
        let halfway = Self { redis, process, held };
        let _taken = halfway.process.until(|| halfway.name(), Option::is_some);
        halfway
    }

    /// The key of its name's lease, once it has one.
    fn name(&self) -> Option<String> {
        let kept = self
            .redis
            .command(&["KEYS", "{seckill}:lease:node:*"])
            .expect("answers");
        let mut lines = kept.lines().map(str::trim);
        lines.find(|line| line.starts_with('{')).map(str::to_owned)
    }
}

/// Lets it go.
fn expect_refused(mut process: Server, held: Held, words: &str) {
    drop(held);
    assert_eq!(process.wait_end().code(), Some(1), "{}", process.log());
    let log = process.log();
    assert!(log.contains(words), "{log}");
    // The first time it was.
    assert_eq!(log.matches("\"ready\"").count(), 1, "{log}");
}

/// By the clock of the server.
fn second(redis: &Redis) -> u64 {
    let answer = redis.command(&["TIME"]).expect("answers");
    let mut lines = answer.lines().map(str::trim).filter(|line| line.len() == 10);
    lines.find_map(|line| line.parse().ok()).expect("a second")
}

#[test]
fn a_process_that_is_refused_at_the_last_look_has_not_worked_and_leaves_nothing_behind() {
    let database = Postgres::fresh();
    let halfway = Halfway::on(&database);
    let lease = halfway.name().expect("is taken");
    let Halfway { redis, process, held } = halfway;
    let stranger =
        json!({"id": "stranger", "roles": ["api"], "admin": "127.0.0.1:1", "fingerprints": {"database": "another"}});
    redis.expect(&["HSET", "{seckill}:members", "stranger", &stranger.to_string()], ":1");
    thread::scope(|scope| {
        let refused = scope.spawn(|| expect_refused(process, held, ANOTHER_DATABASE));
        while !refused.is_finished() {
            let beat = format!("{}000", second(&redis));
            let _ = redis.command(&["ZADD", "{seckill}:beats", &beat, "stranger"]);
            thread::sleep(Duration::from_millis(50));
        }
        refused.join().expect("is refused");
    });
    redis.expect(&["HLEN", "{seckill}:members"], ":1");
    for key in [lease.as_str(), "{seckill}:lease:scheduler"] {
        redis.expect(&["EXISTS", key], ":0");
    }
}

#[test]
fn a_process_whose_name_was_taken_while_it_started_is_refused() {
    let database = Postgres::fresh();
    let halfway = Halfway::on(&database);
    let lease = format!("{}000 another", second(&halfway.redis) + 20);
    let name = halfway.name().expect("is taken");
    halfway.redis.expect(&["SET", &name, &lease], "+OK");
    expect_refused(halfway.process, halfway.held, "is a copy of its data folder");
}
