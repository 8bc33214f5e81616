//! Stores that would lose or double sales are refused at the start with the reason; what might lose some is told loudly, once.

use seckill_testkit::{Postgres, Redis, Server, SharedSentinel, free_address};
use serde_json::json;
use tempfile::TempDir;

use crate::check::{lines, until};
use crate::program;

/// How a start with these settings ended, and what was said.
fn refused(settings: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = TempDir::new().expect("a folder");
    let [public, admin] = [free_address(), free_address()].map(|address| address.to_string());
    let arguments = [
        "serve",
        "--data-dir",
        "data",
        "--listen",
        &public,
        "--admin-listen",
        &admin,
    ];
    let mut command = program().command(folder.path(), &arguments);
    let output = command.envs(settings.iter().copied()).output().expect("starts");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[track_caller]
pub(crate) fn assert_refused(settings: &[(&str, &str)], code: i32, words: &str) {
    let (is, said) = refused(settings);
    assert!(is == Some(code) && said.contains(words), "{is:?}: {said}");
}

#[test]
fn a_store_that_evicts_forgets_or_follows_is_refused() {
    let redis = Redis::start();
    let url = redis.url();
    for (setting, bad, good) in [
        ("maxmemory-policy", "allkeys-lru", "noeviction"),
        ("maxmemory-policy", "volatile-ttl", "noeviction"),
        ("appendonly", "no", "yes"),
    ] {
        redis.expect(&["CONFIG", "SET", setting, bad], "+OK");
        assert_refused(
            &[("SECKILL_STORE__URL", &url)],
            4,
            &format!("the store is not safe: {setting} {bad}"),
        );
        redis.expect(&["CONFIG", "SET", setting, good], "+OK");
    }
    redis.expect(&["REPLICAOF", "127.0.0.1", "1"], "+OK");
    assert_refused(&[("SECKILL_STORE__URL", &url)], 4, "the server is a slave");
}

#[test]
fn orders_in_a_file_of_its_own_keep_a_process_away_from_a_store_that_others_use() {
    let redis = Redis::start();
    let url = redis.url();
    let mut first = Server::start_with(&program(), &[("SECKILL_STORE__URL", url.as_str())]);
    let settings = [("SECKILL_STORE__URL", url.as_str())];
    assert_refused(&settings, 1, "orders would be in a file of this process alone");
    // It is no other to itself.
    first.kill();
    first.start_again();
}

#[test]
fn a_user_of_the_store_with_too_few_rights_or_a_wrong_password_is_refused() {
    let redis = Redis::start();
    let rules = ["on", ">secret", "~*", "&*", "+@all", "-xautoclaim"];
    redis.expect(&[&["ACL", "SETUSER", "sale"], &rules[..]].concat(), "+OK");
    let url = |password: &str| format!("redis://sale:{password}@{}", redis.address());
    assert_refused(
        &[("SECKILL_STORE__URL", &url("secret"))],
        4,
        "may not run what is needed: xautoclaim",
    );
    let (code, said) = refused(&[("SECKILL_STORE__URL", &url("wrong-one"))]);
    assert!(
        code == Some(4) && said.contains("refuses this user and password"),
        "{said}"
    );
    assert!(!said.contains("wrong-one"), "{said}");
}

#[test]
fn settings_that_no_server_of_their_kind_can_keep_are_refused_before_anybody_is_asked() {
    let cluster = "redis-cluster://127.0.0.1:1/1";
    assert_refused(&[("SECKILL_STORE__URL", cluster)], 2, "database 0");
    let waits = ("SECKILL_STORE__DURABILITY", "wait:1");
    assert_refused(&[waits], 2, "the embedded store has no replicas");
    let cluster = ("SECKILL_STORE__URL", "redis-cluster://127.0.0.1:1");
    assert_refused(&[cluster, waits], 2, "on a cluster no copies are waited for");
}

#[test]
fn a_promise_that_the_server_does_not_know_is_refused_and_one_that_nobody_keeps_yet_is_told_of() {
    let redis = Redis::start();
    let url = redis.url();
    let has_waitaof = redis
        .command(&["COMMAND", "INFO", "WAITAOF"])
        .expect("answers")
        .contains("waitaof");
    let settings = [
        ("SECKILL_STORE__URL", url.as_str()),
        ("SECKILL_STORE__DURABILITY", "waitaof:0"),
    ];
    if has_waitaof {
        drop(Server::start_with(&program(), &settings));
    } else {
        assert_refused(&settings, 4, "this server has no WAITAOF, which came with Redis 7.2");
    }
    let settings = [
        ("SECKILL_STORE__URL", url.as_str()),
        ("SECKILL_STORE__DURABILITY", "wait:1"),
    ];
    let server = Server::start_with(&program(), &settings);
    assert_eq!(
        server.log().matches("1 replicas are waited for, and 0 follow").count(),
        1,
        "{}",
        server.log()
    );
    let activity = server.sale(3, &json!({}));
    let unknown = server.buy(activity, "a", "k").expect("answers");
    assert_eq!((unknown.status, unknown.code()), (503, 50_302), "{unknown:?}");
    let replica = Redis::start();
    replica.expect(&["REPLICAOF", "127.0.0.1", &redis.address().port().to_string()], "+OK");
    let again = server.until(
        || server.buy(activity, "a", "k").expect("answers"),
        |answer| answer.status == 202,
    );
    assert_eq!(again.code(), 0);
}

#[test]
fn a_master_behind_sentinels_that_admits_without_a_replica_is_told_of_unless_copies_are_waited_for() {
    let set = SharedSentinel::take();
    let (master, url) = (set.master(), set.url());
    let needs = |count: &str| master.expect(&["CONFIG", "SET", "min-replicas-to-write", count], "+OK");
    needs("0");
    let settings = [("SECKILL_STORE__URL", url.as_str())];
    let mut server = Server::start_with(&program(), &settings);
    let log = server.log();
    assert_eq!(log.matches("min-replicas-to-write 0").count(), 1, "{log}");
    until(&server, None, "store settings", "warning", "min-replicas-to-write 0");
    needs("1");
    server.until(
        || lines(&server, None, "store settings"),
        |lines| lines.iter().all(|(_, said)| !said.contains("min-replicas-to-write 0")),
    );
    needs("0");
    assert!(server.terminate().success());
    let copies = [settings[0], ("SECKILL_STORE__DURABILITY", "wait:1")];
    let server = Server::start_with(&program(), &copies);
    assert!(!server.log().contains("min-replicas-to-write"), "{}", server.log());
}

#[test]
fn what_may_lose_something_is_told_once_at_the_start() {
    let redis = Redis::start();
    redis.expect(&["CONFIG", "SET", "appendfsync", "everysec"], "+OK");
    let database = Postgres::fresh();
    let (store, careless) = (redis.url(), format!("{}%20-csynchronous_commit%3Doff", database.url()));
    let settings = [
        ("SECKILL_STORE__URL", store.as_str()),
        ("SECKILL_DATABASE__URL", &careless),
        ("SECKILL_DATABASE__MIGRATE", "auto"),
    ];
    let log = Server::start_with(&program(), &settings).log();
    for words in ["appendfsync everysec", "synchronous_commit"] {
        assert_eq!(log.matches(words).count(), 1, "{words}: {log}");
    }
}
