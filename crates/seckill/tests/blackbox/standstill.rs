//! One Redis server of a cluster stands still, and nobody takes its place: its own sales wait, those of the others go on as if nothing were.

mod house;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use seckill_testkit::{Server, call};
use serde_json::json;

use crate::rush::Rush;
use crate::storm::Ends;
use crate::tap::SWITCHES;
use crate::tap_overload::metric;
use house::{APIS, House, STOCK, WAITING, Waiting};

/// Purchases of each other sale at each node.
const CALM: usize = 60;
/// Tickets of the sale that stands still grow older than this, in seconds; those of the others do not, however busy the machine is.
const TOO_OLD_S: u64 = 5;
/// Where everything is that belongs to no sale.
const HOME: &str = "{seckill}:sales";

/// Everybody who comes to this sale, at whichever node, is admitted at the first try, and has his order.
fn sells_undiminished(house: &House, sale: u64) {
    for number in 0..CALM {
        for (place, node) in house.apis().iter().enumerate() {
            let answer = node.buy(sale, &format!("calm-{place}-{number}"), "k").expect("answers");
            assert_eq!(
                answer.status, 202,
                "sale {sale}, buyer {number} at node {place}: {answer:?}"
            );
        }
    }
    let books = house.apis()[0].settled(sale);
    let figures = ["balanced", "accepted", "orders_live"].map(|name| books[name].clone());
    let all = json!(CALM * APIS);
    assert_eq!(figures, [json!(true), all.clone(), all], "{books}");
}

/// The node is ready, and says which server does not answer, and whose sale waits for it.
fn tells_which(house: &House, node: &Server, still: usize) {
    let ready = call(node.admin, "GET", "/readyz", &[], None).expect("answers");
    assert_eq!(ready.status, 200, "{ready:?}");
    for place in 0..3 {
        let is_up = f64::from(u8::from(place != still));
        let (server, sale) = (house.cluster.servers[place].address(), house.sales[place]);
        let told = [
            metric(node, &format!("seckill_store_server_up{{server=\"{server}\"}}")),
            metric(node, &format!("seckill_activity_store_up{{activity=\"{sale}\"}}")),
        ];
        assert_eq!(told, [is_up; 2], "{server}, sale {sale}");
        if place != still {
            let share = metric(node, &format!("seckill_activity_admit_ratio{{activity=\"{sale}\"}}"));
            assert_eq!(share, 1.0, "sale {sale}");
        }
    }
}

fn only_its_own_sales_wait(house: &House, still: usize) {
    let (node, sale) = (&house.apis()[0], house.sales[still]);
    let (rush, waiting) = (Rush::at(house.apis(), sale), Waiting::default());
    let change = json!({"backlog_oldest_max_s": TOO_OLD_S});
    assert_eq!(node.as_admin("PATCH", SWITCHES, Some(&change)).status, 200);
    rush.during(|| {
        rush.admits(node, 50);
        house.cluster.servers[still].pause();
        thread::scope(|scope| {
            let ends = Ends(&waiting.over);
            for place in 0..WAITING {
                let waiting = &waiting;
                scope.spawn(move || waiting.come(house, sale, place));
            }
            waiting.hear_more(node);
            for other in (0..3).filter(|other| *other != still) {
                sells_undiminished(house, house.sales[other]);
            }
            waiting.hear_more(node);
            house.apis().iter().for_each(|node| tells_which(house, node, still));
            drop(ends);
        });
        house.cluster.servers[still].resume();
        rush.admits(node, 50);
    });
    let unknown = waiting.unknown.into_inner().expect("no panic");
    unknown.iter().for_each(|user| rush.left_unknown(user));
    rush.check(node, STOCK);
}

#[test]
fn a_server_that_stands_still_keeps_the_sales_of_no_other_waiting() {
    let house = House::new();
    let home = house.cluster.owner(HOME).expect("a master");
    only_its_own_sales_wait(&house, (home + 1) % 3);
}

#[test]
fn nor_does_the_one_that_has_what_belongs_to_no_sale() {
    let house = House::new();
    let home = house.cluster.owner(HOME).expect("a master");
    only_its_own_sales_wait(&house, home);
}

#[test]
fn a_server_that_is_slow_lowers_the_share_of_its_own_sales_alone() {
    let house = House::new();
    let node = &house.apis()[0];
    let rule = json!({"auto_admit": {"store_p99_ms": 50, "step": 0.25}});
    assert_eq!(node.as_admin("PATCH", SWITCHES, Some(&rule)).status, 200);
    let share = |place: usize| {
        let sale = house.sales[place];
        metric(node, &format!("seckill_activity_admit_ratio{{activity=\"{sale}\"}}"))
    };
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let ends = Ends(&over);
        for place in 0..8 {
            let (house, over) = (&house, &over);
            scope.spawn(move || {
                let mut number = 0;
                while !over.load(Ordering::SeqCst) {
                    number += 1;
                    let answer = node.buy(house.sales[0], &format!("slow-{place}-{number}"), "k");
                    let status = answer.expect("answers").status;
                    assert!(matches!(status, 202 | 503), "{status}");
                }
            });
        }
        let is_slow = AtomicBool::new(true);
        thread::scope(|scope| {
            let _ends = Stops(&is_slow);
            scope.spawn(|| {
                while is_slow.load(Ordering::SeqCst) {
                    house.cluster.servers[0].expect(&["DEBUG", "SLEEP", "0.06"], "+OK");
                }
            });
            node.until(|| share(0), |share| *share <= 0.5);
            for other in [1, 2] {
                sells_undiminished(&house, house.sales[other]);
                assert_eq!(share(other), 1.0);
            }
            node.until(|| share(0), |share| *share <= 0.5);
        });
        node.until(|| share(0), |share| *share == 1.0);
        drop(ends);
    });
    node.until_logged("the store is slow");
}

/// Ends what goes on while this is true, also where what is done meanwhile fails.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}
