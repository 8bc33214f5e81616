//! A store that forgets its scripts all the time, and one that stands still for longer than anybody waits: nobody is sold a unit twice,
//! nobody is forgotten.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use seckill_testkit::Postgres;
use serde_json::json;

use crate::rush::Rush;
use crate::shop::{API, SCHEDULER, Shop, WORKER};
use crate::storm::Ends;

const STOCK: u64 = 50_000;
const FORGETS_EVERY: Duration = Duration::from_millis(100);
/// Ten times as long as a claim waits for its answer.
const STANDS_STILL: Duration = Duration::from_secs(5);

/// Asks while the store stands still.
const PATIENT: &str = "patient";

#[test]
fn a_store_that_forgets_its_scripts_all_the_time_or_stands_still_loses_nobody() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[API, API, WORKER, SCHEDULER]);
    let node = &shop.nodes[0];
    let rush = Rush::at(&shop.nodes[..2], node.sale(STOCK, &json!({})));
    rush.during(|| {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let forgets = || {
                while !over.load(Ordering::SeqCst) {
                    shop.redis.expect(&["SCRIPT", "FLUSH"], "+OK");
                    thread::sleep(FORGETS_EVERY);
                }
            };
            scope.spawn(forgets);
            let _ends = Ends(&over);
            rush.admits(node, 300);
        });
        shop.redis.pause();
        let begun = Instant::now();
        let refused = || {
            let answer = node.buy(rush.activity, PATIENT, PATIENT).expect("answers");
            assert_eq!(answer.status, 503, "{answer:?}");
            begun.elapsed()
        };
        let _passed = node.until(refused, |passed| STANDS_STILL <= *passed);
        shop.redis.resume();
        rush.admits(node, 50);
    });
    // His request may have been done when the store went on: then he has a ticket, once.
    rush.is_asked_by(PATIENT);
    rush.check(node, STOCK);
}
