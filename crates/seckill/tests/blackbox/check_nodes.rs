//! The checklist's lines about nodes of another version, with another clock, database or secret: such a node is a beat in the store, as a real one is to
//! the others.

use seckill_testkit::{Postgres, Redis, Server};
use serde_json::{Value, json};

use crate::check::{lines, until};
use crate::shop::{API, Shop};

const MEMBERS: &str = "{seckill}:members";
const BEATS: &str = "{seckill}:beats";

/// What the only node of this store says of itself.
fn said(redis: &Redis) -> Value {
    let answer = redis.command(&["HVALS", MEMBERS]).expect("answers");
    let (from, to) = (answer.find('{'), answer.rfind('}'));
    let text = &answer[from.expect("a beat")..=to.expect("a beat")];
    serde_json::from_str(text).expect("one beat")
}

/// Milliseconds of the store's clock.
fn now_ms(redis: &Redis) -> i64 {
    let answer = redis.command(&["TIME"]).expect("answers");
    let number = |line: usize| {
        answer
            .lines()
            .nth(line)
            .and_then(|line| line.parse::<i64>().ok())
            .expect("a number")
    };
    number(2) * 1_000 + number(4) / 1_000
}

/// Another node says that it lives.
fn beats(redis: &Redis, another: &Value) {
    let mut said = another.clone();
    let now_ms = now_ms(redis);
    let ahead_ms = another["sent_at"].as_i64().expect("a number");
    said["id"] = json!("another");
    said["sent_at"] = json!(now_ms + ahead_ms);
    let (text, now) = (said.to_string(), now_ms.to_string());
    redis.expect(&["HSET", MEMBERS, "another", &text], ":");
    redis.expect(&["ZADD", BEATS, &now, "another"], ":");
}

/// Waits until a line is so while the other node beats.
fn until_beside(shop: &Shop, another: &Value, area: &str, state: &str, words: &str) {
    let node: &Server = &shop.nodes[0];
    let look = || {
        beats(&shop.redis, another);
        lines(node, None, area)
    };
    let _seen = node.until(look, |lines| {
        lines.iter().any(|(is, said)| is == state && said.contains(words))
    });
}

#[test]
fn nodes_of_another_version_clock_database_or_secret_are_told_of_and_older_ones_say_nothing_of_theirs() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[API]);
    let mut like = said(&shop.redis);
    like["sent_at"] = json!(0);
    let with = |change: &dyn Fn(&mut Value)| {
        let mut other = like.clone();
        change(&mut other);
        other
    };
    for area in ["versions", "clocks", "databases", "keys"] {
        until_beside(&shop, &like, area, "passed", "");
    }
    let older = with(&|other| other["version"] = json!("0.0.9"));
    until_beside(&shop, &older, "versions", "failed", "0.0.9");
    for (ahead_ms, words) in [(5_000, "within 5000 ms"), (-5_000, "within 5000 ms")] {
        let off = with(&|other| other["sent_at"] = json!(ahead_ms));
        until_beside(&shop, &off, "clocks", "failed", words);
    }
    let fingerprint = |name: &'static str| with(&|other| other["fingerprints"][name] = json!("0123456789abcdef"));
    until_beside(&shop, &fingerprint("database"), "databases", "failed", "different ones");
    until_beside(&shop, &fingerprint("user_keys"), "keys", "warning", "finish the change");
    let tokens = fingerprint("purchase_tokens");
    until_beside(&shop, &tokens, "keys", "failed", "each other's purchase tokens");
    let silent = with(&|other| other["fingerprints"] = Value::Null);
    for area in ["databases", "keys"] {
        until_beside(&shop, &silent, area, "passed", "");
    }
    until(&shop.nodes[0], None, "nodes", "passed", "1 alive");
    until(&shop.nodes[0], None, "versions", "passed", "");
}

#[test]
fn a_process_starts_beside_an_older_one_and_tells_of_purchase_tokens_that_are_refused() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[API]);
    let mut other = said(&shop.redis);
    other["sent_at"] = json!(0);
    other["fingerprints"] = Value::Null;
    beats(&shop.redis, &other);
    let shop = shop.with(&[API]);
    assert!(!shop.nodes[1].log().contains("another"), "{}", shop.nodes[1].log());
    other["fingerprints"] = json!({"purchase_tokens": "0123456789abcdef"});
    beats(&shop.redis, &other);
    let shop = shop.with(&[API]);
    let told = "signs purchase tokens with another secret than this one";
    assert_eq!(shop.nodes[2].log().matches(told).count(), 1, "{}", shop.nodes[2].log());
}
