//! Purchases of a sale whose Redis server stands still wait, as many as find a place; those of a sale elsewhere find one, too.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use seckill_testkit::{Redis, RedisCluster, Server};
use serde_json::json;

use crate::program;
use crate::tap_overload::metric;

/// Purchases that may be under way, of which one sale has seven eighths.
const MOST: usize = 16;
const OF_ONE_SALE: usize = 14;
/// Buyers of the sale that waits.
const CROWD: usize = 20;
const CALM: usize = 10;
/// Where everything is that belongs to no sale.
const HOUSE: &str = "{seckill}:sales";

/// A server that stands still no longer than this lives, also where what is done meanwhile fails.
struct GoesOn<'a>(&'a Redis);

impl Drop for GoesOn<'_> {
    fn drop(&mut self) {
        self.0.resume();
    }
}

/// A sale on each master.
fn sales(node: &Server, cluster: &RedisCluster) -> [u64; 3] {
    let mut sales = [0; 3];
    while sales.contains(&0) {
        let activity = node.sale(100, &json!({}));
        let owner = cluster.owner(&format!("{{a:{activity}:0}}:meta")).expect("a master");
        sales[owner] = activity;
    }
    sales
}

#[test]
fn purchases_that_wait_for_a_server_that_stands_still_keep_nobody_of_another_sale_out() {
    let cluster = RedisCluster::start_patient();
    let (most, url) = (MOST.to_string(), cluster.url());
    let settings = [
        ("SECKILL_STORE__URL", url.as_str()),
        ("SECKILL_SERVER__CORES", "1"),
        ("SECKILL_SERVER__IN_FLIGHT_MAX", &most),
        ("SECKILL_STORE__ANSWER_WITHIN", "1m"),
        ("SECKILL_STORE__WAIT_MAX", "1m"),
    ];
    let node = &Server::start_with(&program(), &settings);
    let sales = sales(node, &cluster);
    let home = cluster.owner(HOUSE).expect("a master");
    let (still, other) = ((home + 1) % 3, (home + 2) % 3);
    let shed = AtomicU64::new(0);
    cluster.servers[still].pause();
    thread::scope(|scope| {
        let goes_on = GoesOn(&cluster.servers[still]);
        for number in 0..CROWD {
            let (shed, sales) = (&shed, &sales);
            scope.spawn(move || {
                let answer = node
                    .buy(sales[still], &format!("waits-{number}"), "k")
                    .expect("answers");
                match (answer.status, answer.code()) {
                    (202, 0) => {}
                    (503, 50_300) => _ = shed.fetch_add(1, Ordering::SeqCst),
                    _ => panic!("{number}: {answer:?}"),
                }
            });
        }
        // Each waits, or has been told that there are too many.
        let came = || metric(node, "seckill_in_flight") as u64 + shed.load(Ordering::SeqCst);
        node.until(came, |came| *came == CROWD as u64);
        for number in 0..CALM {
            let answer = node.buy(sales[other], &format!("calm-{number}"), "k");
            assert_eq!(answer.expect("answers").status, 202, "buyer {number}");
        }
        drop(goes_on);
    });
    let of_in_flight = metric(node, r#"seckill_shed_total{reason="in_flight"}"#);
    assert_eq!(of_in_flight, (CROWD - OF_ONE_SALE) as f64);
    assert_eq!(node.settled(sales[still])["orders_live"], OF_ONE_SALE);
    assert_eq!(node.settled(sales[other])["orders_live"], CALM);
}
