//! What is found before a sale, each line broken on purpose.

use std::time::Duration;

use seckill_engine_redis::{ConnectError, Durability, Engine, Options, examine};
use seckill_sale::{Finding, Severity};
use seckill_stock::Examined as _;
use seckill_testkit::{Redis, RedisTls};

use crate::support::{Running, new_runtime};

/// Examines; an engine starts where nothing failed, and else says the same.
fn found(options: &Options) -> Vec<Finding> {
    let runtime = new_runtime();
    let found = runtime.block_on(examine(options));
    let failed = found.iter().find(|finding| finding.severity == Severity::Failed);
    let connected = runtime.block_on(Engine::connect(options.clone()));
    match (failed, connected.err()) {
        (None, None) => {}
        (Some(finding), Some(ConnectError::Unsafe(sentence))) => assert_eq!(finding.sentence, sentence),
        (Some(_), Some(_)) => {}
        (failed, error) => panic!("{failed:?}, but {error:?}"),
    }
    found
}

fn of(redis: &Redis) -> Options {
    Options::new(redis.url(), "examiner".to_owned())
}

fn check(found: &[Finding], area: &str, severity: Severity, words: &str) {
    let is_it = |finding: &&Finding| finding.area == area && finding.severity == severity;
    let it = found.iter().find(is_it).unwrap_or_else(|| panic!("{area}: {found:?}"));
    assert!(it.sentence.contains(words), "{it:?}");
}

#[test]
fn a_server_that_is_as_it_should_be_passes_in_every_area_and_nothing_stays_of_it() {
    let redis = Redis::start();
    let found = found(&of(&redis));
    assert!(
        found.iter().all(|finding| finding.severity == Severity::Passed),
        "{found:?}"
    );
    for area in [
        "address",
        "version",
        "role",
        "rights",
        "maxmemory-policy",
        "appendonly",
        "appendfsync",
    ] {
        check(&found, area, Severity::Passed, "");
    }
    redis.expect(&["DBSIZE"], ":0");
}

#[test]
fn each_setting_that_loses_sales_fails_and_one_that_may_is_warned_of() {
    let redis = Redis::start();
    for (setting, bad, good, severity) in [
        ("maxmemory-policy", "allkeys-lru", "noeviction", Severity::Failed),
        ("appendonly", "no", "yes", Severity::Failed),
        ("appendfsync", "everysec", "always", Severity::Warning),
        ("no-appendfsync-on-rewrite", "yes", "no", Severity::Warning),
    ] {
        redis.expect(&["CONFIG", "SET", setting, bad], "+OK");
        check(&found(&of(&redis)), setting, severity, bad);
        redis.expect(&["CONFIG", "SET", setting, good], "+OK");
    }
}

#[test]
fn a_replica_is_no_store() {
    let redis = Redis::start();
    redis.expect(&["REPLICAOF", "127.0.0.1", "1"], "+OK");
    check(&found(&of(&redis)), "role", Severity::Failed, "slave");
}

#[test]
fn a_command_that_the_user_may_not_run_is_named() {
    let redis = Redis::start();
    let mut options = of(&redis);
    options.address = format!("redis://sale:secret@{}", redis.address());
    let user = |rules: &[&str]| {
        let mut words = vec!["ACL", "SETUSER", "sale", "reset", "on", ">secret"];
        words.extend(rules);
        redis.expect(&words, "+OK");
    };
    let keys = ["~{a:*", "~{p:*", "~{seckill}*", "&{a:*"];
    user(&[&keys[..], &["+@all", "-@dangerous", "+info", "+role"]].concat());
    let passed = found(&options);
    check(&passed, "rights", Severity::Passed, "");
    check(&passed, "maxmemory-policy", Severity::Warning, "does not show");
    for (rules, missing) in [
        (&[&keys[..], &["+@all", "-xautoclaim"]].concat()[..], "xautoclaim"),
        (&[&keys[..], &["+@all", "-hset", "-zadd"]].concat()[..], "hset, zadd"),
        (&[&keys[..], &["+@all", "-evalsha", "-eval"]].concat()[..], "scripts"),
        (&[&keys[..], &["+@all", "-ssubscribe"]].concat()[..], "ssubscribe"),
        (&["~{p:*", "~{seckill}*", "&*", "+@all"], "{a:*"),
        (&["~{a:*", "~{seckill}*", "&*", "+@all"], "{p:*"),
        (&["~{a:*", "~{p:*", "&*", "+@all"], "{seckill}"),
        (&["~*", "+@all"], "channel"),
    ] {
        user(rules);
        check(&found(&options), "rights", Severity::Failed, missing);
    }
}

#[test]
fn a_wrong_or_missing_password_is_said_to_be_one() {
    let redis = Redis::start_with(&[("requirepass", "right")]);
    let mut options = of(&redis);
    check(&found(&options), "login", Severity::Failed, "password");
    options.address = format!("redis://:wrong@{}", redis.address());
    check(&found(&options), "login", Severity::Failed, "refuses");
    options.address = format!("redis://:right@{}", redis.address());
    assert!(
        found(&options)
            .iter()
            .all(|finding| finding.severity == Severity::Passed)
    );
}

#[test]
fn nobody_at_an_address_and_no_address_are_failures() {
    let mut redis = Redis::start();
    redis.kill();
    check(&found(&of(&redis)), "address", Severity::Failed, "cannot be reached");
    let mut options = of(&redis);
    options.address = "redis-cluster://127.0.0.1/1".to_owned();
    check(&found(&options), "address", Severity::Failed, "database 0");
}

#[test]
fn an_encrypted_server_is_believed_where_its_authority_is() {
    let redis = RedisTls::start();
    let mut options = Options::new(redis.url(), "encrypted".to_owned());
    check(&found(&options), "address", Severity::Failed, "cannot be reached");
    options.authority = Some(redis.authority);
    let passed = found(&options);
    assert!(
        passed.iter().all(|finding| finding.severity == Severity::Passed),
        "{passed:?}"
    );
}

#[test]
fn copies_that_cannot_be_had_are_told_of_and_those_that_can_pass() {
    let redis = Redis::start();
    let mut options = of(&redis);
    options.durability = Durability::Wait {
        replicas: 1,
        within: Duration::from_millis(100),
    };
    check(&found(&options), "durability", Severity::Warning, "and 0 follow");
    let replica = Redis::start();
    let port = redis.address().port().to_string();
    replica.expect(&["REPLICAOF", "127.0.0.1", &port], "+OK");
    redis.until(&["INFO", "replication"], "state=online");
    check(&found(&options), "durability", Severity::Passed, "1 follow");
    options.answer_within = Duration::from_millis(100);
    check(&found(&options), "durability", Severity::Failed, "given up after");
}

#[test]
fn an_engine_that_runs_examines_its_servers_and_the_shards_of_a_sale() {
    let running = Running::start(None);
    let engine = &running.engine;
    let found = running.block_on(engine.examine());
    check(&found, "maxmemory-policy", Severity::Passed, "");
    let bad = ["CONFIG", "SET", "maxmemory-policy", "allkeys-lfu"];
    running.redis.expect(&bad, "+OK");
    check(
        &running.block_on(engine.examine()),
        "maxmemory-policy",
        Severity::Failed,
        "allkeys-lfu",
    );
}
