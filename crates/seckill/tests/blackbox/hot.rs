//! A hot sale beside a calm one: whatever many do to the one, who comes to the other is admitted, put off by nobody, and soon has his order.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use seckill_bench::held_disk::{Held, HeldDisk};
use seckill_testkit::{Answer, Database, PostgresServer, Redis, Server};
use serde_json::json;

use crate::program;
use crate::shop::{API, SCHEDULER, Shop, WORKER};
use crate::tap::SWITCHES;
use crate::tap_overload::metric;

/// Buyers of the calm sale in each of its trials.
const CALM: usize = 50;

/// Processes that give a store time that is busy with other tests.
fn patient(database: &Database<PostgresServer>) -> Shop {
    Shop::new(database.url()).setting("SECKILL_STORE__ANSWER_WITHIN", "1m")
}

/// Everybody of these is admitted, and nobody is put off for the sake of others. Where the store of a busy machine has not answered in time
/// (50302) he asks again with his key.
fn sells_at_once(node: &Server, activity: u64, who: &str, count: usize) {
    for number in 0..count {
        let user = format!("{who}-{number}");
        let buy = || node.buy(activity, &user, "k").expect("answers");
        let answer = node.until(buy, |answer| answer.code() != 50_302);
        assert_eq!(answer.status, 202, "{who} {number}: {answer:?}");
    }
}

#[test]
fn in_an_overload_those_who_are_shed_are_of_the_sale_that_has_most() {
    const CROWD: usize = 400;
    let disk = HeldDisk::build(Held::Journal, Duration::ZERO).expect("a C compiler");
    let mut settings = disk.environment();
    for (name, value) in [
        ("SERVER__CORES", "1"),
        ("STORE__ANSWER_WITHIN", "1m"),
        ("STORE__WAIT_MAX", "1ms"),
    ] {
        settings.push((format!("SECKILL_{name}"), value.to_owned()));
    }
    let settings: Vec<_> = settings
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let node = &Server::start_with(&program(), &settings);
    let [hot, calm] = [1_000, 100].map(|stock| node.sale(stock, &json!({})));
    let answered = &AtomicU64::new(0);
    let buys = |activity, user: String| {
        move || {
            let answer = node.buy(activity, &user, "k").expect("answers");
            answered.fetch_add(1, Ordering::SeqCst);
            answer
        }
    };
    // Those who have come wait, or have been told that they do not.
    let came = || metric(node, "seckill_in_flight") as u64 + answered.load(Ordering::SeqCst);
    let until_came = |count: usize| node.until(came, |came| count as u64 <= *came);
    disk.hang().expect("a file");
    let (calm_ones, hot_ones) = thread::scope(|scope| {
        let mut hot_ones = vec![scope.spawn(buys(hot, "first".to_owned()))];
        until_came(1);
        let calm_ones: Vec<_> = (0..CALM)
            .map(|n| scope.spawn(buys(calm, format!("calm-{n}"))))
            .collect();
        until_came(1 + CALM);
        hot_ones.extend((0..CROWD).map(|n| scope.spawn(buys(hot, format!("hot-{n}")))));
        until_came(1 + CALM + CROWD);
        disk.release().expect("a file");
        let all = |asked: Vec<thread::ScopedJoinHandle<'_, Answer>>| -> Vec<Answer> {
            asked.into_iter().map(|one| one.join().expect("no panic")).collect()
        };
        (all(calm_ones), all(hot_ones))
    });
    assert!(calm_ones.iter().all(|answer| answer.status == 202), "{calm_ones:?}");
    let shed = hot_ones.iter().filter(|answer| answer.code() == 50_300).count();
    assert!(0 < shed, "the crowd was no overload");
    assert_eq!(
        metric(node, r#"seckill_shed_total{reason="waited_too_long"}"#),
        shed as f64
    );
}

#[test]
fn orders_of_a_calm_sale_are_written_before_the_backlog_of_a_hot_one() {
    const BUYERS: usize = 2_000;
    let database: Database<PostgresServer> = Database::alone(&[]);
    let shop = patient(&database).setting("SECKILL_DATABASE__BATCH_SIZE_MAX", "20");
    let mut shop = shop.with(&[API, SCHEDULER]);
    let node = &shop.nodes[0];
    node.admits_however_slow();
    let [hot, calm] = [BUYERS as u64 + 1, 100].map(|stock| node.sale(stock, &json!({})));
    [hot, calm].iter().for_each(|sale| node.knows(*sale));
    thread::scope(|scope| {
        for place in 0..8 {
            scope.spawn(move || sells_at_once(node, hot, &format!("hot-{place}"), BUYERS / 8));
        }
    });
    sells_at_once(node, hot, "last", 1);
    sells_at_once(node, calm, "calm", 5);
    shop = shop.with(&[WORKER]);
    let node = &shop.nodes[0];
    assert_eq!(node.settled(calm)["orders_live"], 5);
    assert_eq!(node.settled(hot)["orders_live"], json!(BUYERS + 1));
    let written_at = |user: &str| {
        let orders = node.as_user(user, "GET", "/api/orders", None).expect("answers");
        orders.data()["orders"][0]["created_at_ms"].as_u64().expect("a moment")
    };
    let last_hot = written_at("last-0");
    for number in 0..5 {
        let calm = written_at(&format!("calm-{number}"));
        assert!(calm < last_hot, "{calm} is not before {last_hot}");
    }
}

#[test]
fn a_hot_sale_that_fills_the_backlog_or_whose_tickets_grow_old_leaves_room_for_a_calm_one() {
    let database: Database<PostgresServer> = Database::alone(&[]);
    let mut shop = patient(&database).with(&[API, SCHEDULER]);
    let node = &shop.nodes[0];
    node.admits_however_slow();
    let [hot, calm] = [1_000, 1_000].map(|stock| node.sale(stock, &json!({})));
    let turn = |change| assert_eq!(node.as_admin("PATCH", SWITCHES, Some(&change)).status, 200);
    turn(json!({"backlog_max": 40, "backlog_oldest_max_s": 0}));
    let code = |activity, user: &str| node.buy(activity, user, "k").expect("answers").code();
    // A quarter is kept for the other one: half of it, in two parts.
    let heard: Vec<_> = (0..40).map(|n| code(hot, &format!("hot-{n}"))).collect();
    let admitted = heard.iter().filter(|code| **code == 0).count();
    assert_eq!(admitted, 30, "{heard:?}");
    assert!(heard[admitted..].iter().all(|code| *code == 50_301), "{heard:?}");
    let held = || node.as_admin("GET", SWITCHES, None).data()["backlog_sales"].clone();
    let _hot = node.until(held, |held| *held == json!([hot]));
    sells_at_once(node, calm, "calm", 10);
    assert_eq!(code(calm, "calm-10"), 50_301, "never more than may wait");
    turn(json!({"backlog_max": 1_000}));
    let _none = node.until(held, |held| *held == json!([]));
    sells_at_once(node, hot, "more", 1);
    // Nobody settles, and the calm sale has no old ticket of its own: but for those of before.
    let fresh = node.sale(10, &json!({}));
    turn(json!({"backlog_oldest_max_s": 1}));
    let _both = node.until(held, |held| *held == json!([hot, calm]));
    assert_eq!(code(hot, "old"), 50_301);
    sells_at_once(node, fresh, "fresh", 1);
    shop = shop.with(&[WORKER]);
    let node = &shop.nodes[0];
    let code = |activity, user: &str| node.buy(activity, user, "k").expect("answers").code();
    for (sale, user) in [(hot, "again-hot"), (calm, "again-calm")] {
        let _admitted = node.until(|| code(sale, user), |code| *code == 0);
        assert_eq!(node.settled(sale)["balanced"], true);
    }
}

/// Calls that nodes make of a store to hear of a buyer, and all others by scripts.
fn calls(redis: &Redis) -> u64 {
    let stats = redis.command(&["INFO", "commandstats"]).expect("answers");
    let of = |line: &str| {
        ["cmdstat_evalsha:", "cmdstat_hget:"]
            .iter()
            .any(|name| line.starts_with(name))
    };
    let calls = stats.lines().filter(|line| of(line));
    let calls = calls.filter_map(|line| line.split_once("calls=")?.1.split(',').next()?.parse::<u64>().ok());
    calls.sum()
}

#[test]
fn who_asks_again_at_a_paused_sale_costs_the_store_nothing_and_who_has_a_ticket_hears_of_it() {
    const RETRIES: u64 = 50;
    let database: Database<PostgresServer> = Database::alone(&[]);
    let shop = Shop::new(database.url()).with(&[API, WORKER, SCHEDULER]);
    let node = &shop.nodes[0];
    let activity = node.sale(10, &json!({}));
    let bought = node.buy(activity, "a", "k").expect("answers");
    let _books = node.settled(activity);
    let pause = format!("/admin/api/activities/{activity}/pause");
    assert_eq!(node.as_admin("POST", &pause, Some(&json!({}))).status, 200);
    // But for the looks around that every node takes, and which may fall between, there is no call from when the node knows all buyers.
    let mut alone = 0;
    let asks_again = || {
        let before = calls(&shop.redis);
        assert_eq!(node.buy(activity, "stranger", "k").expect("answers").code(), 40_006);
        alone += u64::from(calls(&shop.redis) == before);
        alone
    };
    let _alone = node.until(asks_again, |alone| *alone == RETRIES);
    let again = node.buy(activity, "a", "k").expect("answers");
    assert_eq!(
        (again.status, again.data()["ticket"].clone()),
        (202, bought.data()["ticket"].clone())
    );
    assert_eq!(node.buy(activity, "a", "other").expect("answers").code(), 40_006);
}
