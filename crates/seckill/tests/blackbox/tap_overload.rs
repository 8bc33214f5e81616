//! What a node does by itself when it is overrun, and when its store is slow.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use seckill_testkit::{Database, Network, PostgresServer, Proxy, Redis, Server, text};
use serde_json::json;

use crate::program;
use crate::shop::Shop;
use crate::storm::Ends;
use crate::tap::SWITCHES;

/// A figure of the metrics page.
pub(crate) fn metric(server: &Server, line: &str) -> f64 {
    let page = text(server.admin, "/metrics").expect("answers");
    let found = page
        .lines()
        .find_map(|found| found.strip_prefix(line)?.strip_prefix(' '));
    found.map_or(0.0, |value| value.parse().expect("a number"))
}

#[test]
fn after_an_overload_by_clients_that_retry_at_once_everybody_honest_is_served() {
    let settings = [("SECKILL_SERVER__IN_FLIGHT_MAX", "1"), ("SECKILL_SERVER__CORES", "1")];
    let server = Server::start_with(&program(), &settings);
    let activity = server.sale(10_000, &json!({}));
    let shed = || metric(&server, r#"seckill_shed_total{reason="in_flight"}"#);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for rude in 0..20 {
            let (server, over) = (&server, &over);
            scope.spawn(move || {
                let mut number = 0;
                while !over.load(Ordering::Relaxed) {
                    number += 1;
                    let user = format!("rude-{rude}-{number}");
                    while !over.load(Ordering::Relaxed) {
                        let answer = server.buy(activity, &user, "k").expect("answers");
                        let is_allowed =
                            matches!((answer.status, answer.code()), (202, 0) | (503, 50_300) | (410, 40_005));
                        assert!(is_allowed, "{answer:?}");
                        if answer.status != 503 {
                            break;
                        }
                        assert!(
                            answer
                                .header("retry-after")
                                .parse::<u64>()
                                .is_ok_and(|seconds| 1 <= seconds)
                        );
                    }
                }
            });
        }
        server.until(shed, |shed| 100.0 < *shed);
        over.store(true, Ordering::Relaxed);
    });
    let second = server.sale(50, &json!({}));
    for honest in 0..50 {
        let answer = server.buy(second, &format!("honest-{honest}"), "k").expect("answers");
        assert_eq!(answer.status, 202, "{answer:?}");
    }
    assert_eq!(server.settled(second)["orders_live"], 50);
    assert_eq!(server.settled(activity)["balanced"], true);
}

#[test]
fn a_slow_store_lowers_the_share_that_is_let_in_and_a_quick_one_raises_it_again() {
    let (database, redis) = (Database::alone(&[]), Redis::start());
    let proxy = Proxy::to(redis.address());
    let shop = Shop::on(format!("redis://{}", proxy.address), redis, database.url()).with(&[&["serve"]]);
    let _database: Database<PostgresServer> = database;
    let node = &shop.nodes[0];
    // More than a fast machine sells until the share is whole again.
    let activity = node.sale(1_000_000, &json!({}));
    let rule = json!({"auto_admit": {"store_p99_ms": 50, "step": 0.5}});
    assert_eq!(node.as_admin("PATCH", SWITCHES, Some(&rule)).status, 200);
    let ratio = || metric(node, r#"seckill_switch{name="auto_admit_ratio"}"#);
    assert_eq!(ratio(), 1.0);
    let over = AtomicBool::new(false);
    proxy.set(Network::Slow(Duration::from_millis(60)));
    thread::scope(|scope| {
        for place in 0..8 {
            let over = &over;
            scope.spawn(move || {
                let mut number = 0;
                while !over.load(Ordering::Relaxed) {
                    number += 1;
                    let answer = node
                        .buy(activity, &format!("b-{place}-{number}"), "k")
                        .expect("answers");
                    assert!(matches!(answer.status, 202 | 503), "{answer:?}");
                }
            });
        }
        let _ends = Ends(&over);
        node.until(ratio, |ratio| *ratio <= 0.5);
        proxy.set(Network::Fine);
        node.until(ratio, |ratio| *ratio == 1.0);
    });
    node.until_logged("the store is slow");
}
