//! What an operator sees while a sale runs, and what he is told when something goes wrong.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use seckill_testkit::{Redis, Server};
use serde_json::{Value, json};

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

/// A receiver of alerts, and what it has got.
struct Receiving {
    url: String,
    told: Receiver<String>,
}

impl Receiving {
    fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let url = format!("http://{}/hook", listener.local_addr().expect("bound"));
        let (sender, told) = sync_channel(100);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let (mut request, mut buffer) = (Vec::new(), [0; 4_096]);
                while !String::from_utf8_lossy(&request).ends_with('}') {
                    let length = stream.read(&mut buffer).expect("readable");
                    request.extend_from_slice(&buffer[..length]);
                }
                stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").expect("answered");
                if sender.send(String::from_utf8_lossy(&request).into_owned()).is_err() {
                    return;
                }
            }
        });
        Self { url, told }
    }

    /// The next alert of this kind.
    fn next(&self, kind: &str) -> Value {
        loop {
            let request = self.told.recv_timeout(Duration::from_secs(60)).expect("an alert came");
            let (_, body) = request.split_once("\r\n\r\n").expect("a body");
            let body: Value = serde_json::from_str(body).expect("JSON");
            if body["data"]["kind"] == kind {
                return body;
            }
        }
    }
}

#[test]
fn an_audit_that_does_not_balance_is_told_to_the_webhook() {
    let receiving = Receiving::start();
    let server = Server::start_with(&program(), &[("SECKILL_ALERTS__WEBHOOK_URL", &receiving.url)]);
    let activity = server.sale(5, &json!({}));
    server.buy(activity, "a", "k").expect("answers");
    assert_eq!(server.settled(activity)["balanced"], true);
    let database = rusqlite::Connection::open(server.data().join("seckill.db")).expect("the database");
    database.busy_timeout(Duration::from_secs(20)).expect("set");
    assert_eq!(database.execute("DELETE FROM orders", []), Ok(1));
    assert_eq!(server.settled(activity)["balanced"], false);
    let alert = receiving.next("audit_drift");
    assert_eq!(
        (&alert["type"], &alert["data"]["activity_id"]),
        (&json!("alert.raised"), &json!(activity))
    );
    server.until_logged("audit_drift");
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
