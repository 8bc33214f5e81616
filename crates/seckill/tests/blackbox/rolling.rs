//! Processes that end and start again one after another, and a worker that stands still while others do its work.

use seckill_testkit::{Held, Postgres, Redis};
use serde_json::json;

use crate::rush::Rush;
use crate::shop::{API, SCHEDULER, Shop, WORKER};

const STOCK: u64 = 50_000;
/// Longer than a worker may keep tickets.
const LEASE_IS_OVER_MS: &str = "60000";

#[test]
fn every_process_is_restarted_in_turn_while_buyers_come_and_none_of_them_is_lost() {
    let database = Postgres::fresh();
    let mut shop = Shop::new(database.url()).with(&[API, API, WORKER, WORKER, SCHEDULER]);
    let activity = shop.nodes[0].sale(STOCK, &json!({}));
    let rush = Rush::at(&shop.nodes[..2], activity);
    rush.during(|| {
        for place in 0..shop.nodes.len() {
            rush.admits(&shop.nodes[0], 30);
            let ended = shop.nodes[place].terminate();
            assert!(ended.success(), "{place}: {ended:?}");
            if place != 0 {
                rush.admits(&shop.nodes[0], 10);
            }
            shop.nodes[place].start_again();
        }
        rush.admits(&shop.nodes[0], 30);
    });
    rush.check(&shop.nodes[0], STOCK);
}

/// Makes the store believe that who holds entries of this sale has held them for a minute.
fn leases_end(redis: &Redis, activity: u64) {
    let [fresh, meta] = ["fresh", "meta"].map(|name| format!("{{a:{activity}:0}}:{name}"));
    let pending = redis
        .command(&["XPENDING", &fresh, "workers", "-", "+", "100"])
        .expect("answers");
    let words: Vec<&str> = pending.lines().collect();
    let ids: Vec<_> = words.iter().filter(|word| word.contains('-')).collect();
    assert!(!ids.is_empty(), "a worker has some: {pending}");
    for id in ids {
        let consumer = words[words.iter().position(|word| word == id).expect("found") + 2];
        let claim = [
            "XCLAIM",
            &fresh,
            "workers",
            consumer,
            "0",
            id,
            "IDLE",
            LEASE_IS_OVER_MS,
            "JUSTID",
        ];
        // Others may have taken it since it was listed.
        redis.expect(&claim, "*");
    }
    redis.expect(&["HSET", &meta, "leased_at", "1"], ":0");
}

/// Keeps the row of a sale's stock from everybody.
fn keeps_the_stock_row(database: &Postgres, activity: u64) -> Held {
    database.hold(&format!(
        "BEGIN; SELECT available FROM stock WHERE activity_id = {activity} FOR UPDATE"
    ))
}

#[test]
fn tickets_of_a_worker_that_stands_still_are_settled_once_whoever_writes_them_first() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[API, SCHEDULER, WORKER]);
    let activity = shop.nodes[0].sale(STOCK, &json!({}));
    let rush = Rush::at(&shop.nodes[..1], activity);
    let others = keeps_the_stock_row(&database, activity);
    rush.during(|| rush.admits(&shop.nodes[0], 50));
    until_a_writer_waits(&database);
    shop.nodes[2].pause();
    // Its transaction gets the row, and stands still with it.
    drop(others);
    let mut shop = shop.with(&[WORKER]);
    leases_end(&shop.redis, activity);
    let back = format!("{{a:{activity}:0}}:back");
    let _taken = shop.nodes[0].until(
        || shop.redis.command(&["HLEN", &back]).expect("answers"),
        |said| !said.starts_with(":0"),
    );
    shop.nodes[2].resume();
    rush.check(&shop.nodes[0], STOCK);

    // Again, and now it is too late: the server has given its transaction up, and another one writes them.
    shop.nodes[3].terminate();
    let others = keeps_the_stock_row(&database, activity);
    rush.during(|| rush.admits(&shop.nodes[0], 50));
    until_a_writer_waits(&database);
    shop.nodes[2].pause();
    let _ = database.say(&format!("SELECT pg_terminate_backend(pid) {WAITS}"));
    drop(others);
    shop.nodes[3].start_again();
    leases_end(&shop.redis, activity);
    let books = shop.nodes[0].settled(activity);
    assert_eq!(books["orders_live"], rush.admitted(), "{books}");
    shop.nodes[2].resume();
    rush.comes(|| false);
    rush.check(&shop.nodes[0], STOCK);
}

/// Connections of this sale's database that wait for a row.
const WAITS: &str = "FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND query LIKE '%stock%'";

fn until_a_writer_waits(database: &Postgres) {
    let count = format!("SELECT 'they are ' || count(*) {WAITS}");
    while database.say(&count).contains("they are 0") {}
}
