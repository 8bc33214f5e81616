//! What an operator sees while a sale runs.

use std::sync::atomic::{AtomicBool, Ordering};

use seckill_testkit::{Redis, Server};
use serde_json::{Value, json};

use crate::alerts::Receiving;
use crate::program;
use crate::storm::Ends;

#[test]
fn live_figures_follow_a_sale_and_end_with_the_server() {
    let mut server = Server::start(&program());
    let activity = server.sale(20, &json!({}));
    let mut live = server.live();
    let before = live.until(|event| event["activities"][0]["id"] == activity);
    assert_eq!(
        (&before["activities"][0]["stock_left"], &before["store"]["up"]),
        (&json!(20), &json!(true))
    );
    for buyer in 0..30 {
        server.buy(activity, &format!("u{buyer}"), "k").expect("answers");
    }
    let sold_out = |event: &Value| {
        event["activities"][0]["outcomes_per_s"]["sold_out"]
            .as_f64()
            .is_some_and(|rate| 0.0 < rate)
    };
    // Figures are of the last second: people go on coming until they show.
    let seen = AtomicBool::new(false);
    let rush = std::thread::scope(|scope| {
        scope.spawn(|| {
            for late in 0.. {
                if seen.load(Ordering::SeqCst) {
                    break;
                }
                server.buy(activity, &format!("late{late}"), "k").expect("answers");
            }
        });
        let _ends = Ends(&seen);
        live.until(sold_out)
    });
    assert_eq!(
        (&rush["activities"][0]["stock_left"], &rush["activities"][0]["phase"]),
        (&json!(0), &json!("sold_out"))
    );
    assert!(rush["latency"]["p99_us"].as_u64().is_some_and(|us| 0 < us), "{rush}");
    let calm = live.until(|event| event["backlog"]["tickets"] == 0 && event["outcomes_per_s"] == json!({}));
    let [node] = calm["nodes"].as_array().expect("nodes").as_slice() else {
        panic!("{calm}")
    };
    assert_eq!(node["roles"], json!(["api", "worker", "scheduler"]));
    assert_eq!(calm["scheduler"], node["id"]);
    assert_eq!(
        (&calm["database"]["up"], &calm["workers"]["running"]),
        (&json!(true), &json!(2))
    );
    let stopping = std::thread::spawn(move || server.terminate());
    let mut said = String::new();
    while let Some(line) = live.line() {
        said.push_str(&line);
    }
    assert!(said.contains(": the server is stopping"), "{said}");
    let _status = stopping.join().expect("no panic");
}

#[test]
fn checklist_of_a_whole_process_finds_its_node_its_scheduler_and_its_workers() {
    let server = Server::start(&program());
    let list = || server.as_admin("GET", "/admin/api/check", None).data()["checks"].clone();
    let of = |list: &Value, area: &str| {
        let mut checks = list.as_array().into_iter().flatten();
        checks.find(|check| check["area"] == area).cloned().unwrap_or_default()
    };
    for area in ["nodes", "versions", "clocks", "scheduler", "workers"] {
        let _passed = server.until(|| of(&list(), area), |check| check["state"] == "passed");
    }
}

#[test]
fn a_store_that_goes_and_comes_back_is_told_and_shown() {
    let (receiving, mut redis) = (Receiving::start(), Redis::start());
    let url = redis.url();
    let settings = [
        ("SECKILL_ALERTS__WEBHOOK_URL", receiving.url.as_str()),
        ("SECKILL_ALERTS__DOWN_AFTER", "0s"),
        ("SECKILL_STORE__URL", &url),
    ];
    let server = Server::start_with(&program(), &settings);
    let mut live = server.live();
    live.until(|event| event["store"]["up"] == true);
    redis.kill();
    assert_eq!(receiving.next("store_down")["type"], "alert.raised");
    let down = live.until(|event| event["store"]["up"] == false);
    assert_eq!(
        down["nodes"].as_array().map(Vec::len),
        Some(1),
        "its own figures are there: {down}"
    );
    redis.start_again();
    assert_eq!(receiving.next("store_down")["type"], "alert.resolved");
    live.until(|event| event["store"]["up"] == true);
}
