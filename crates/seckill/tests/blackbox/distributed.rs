//! Many processes on one store and one database, from outside.

use std::collections::BTreeSet;

use seckill_testkit::{MariaDb, Postgres, Redis, Server, SharedCluster, SharedSentinel};
use serde_json::{Value, json};

use crate::shop::{API, SCHEDULER, Shop, WORKER};

fn count(statuses: &[u16], status: u16) -> usize {
    statuses.iter().filter(|&&other| other == status).count()
}

/// A sale of thirty units, as `more` says, to which a hundred and twenty come at `apis` nodes; gives its id.
fn sells_exactly_the_stock(shop: &Shop, apis: usize, more: &Value) -> u64 {
    let activity = shop.nodes[0].sale(30, more);
    for node in &shop.nodes[1..apis] {
        node.knows(activity);
    }
    let statuses = shop.rush(activity, 120, apis);
    assert_eq!((count(&statuses, 202), count(&statuses, 410)), (30, 90), "{statuses:?}");
    for node in &shop.nodes {
        let books = node.settled(activity);
        let figures = ["balanced", "orders_live", "stock_left"].map(|name| books[name].clone());
        assert_eq!(figures, [json!(true), json!(30), json!(0)], "{books}");
    }
    let winner = statuses
        .iter()
        .position(|&status| status == 202)
        .expect("thirty of them");
    for node in &shop.nodes[..apis] {
        let path = format!("/api/seckill/result/{activity}");
        let result = node
            .as_user(&format!("u{winner}"), "GET", &path, None)
            .expect("answers");
        assert_eq!((result.status, result.code()), (200, 1), "{result:?}");
        let again = node.buy(activity, &format!("u{winner}"), "k").expect("answers");
        assert_eq!(again.status, 202, "{again:?}");
    }
    activity
}

#[test]
fn three_apis_and_two_workers_sell_exactly_the_stock_on_redis_and_mariadb() {
    let database = MariaDb::fresh();
    let shop = Shop::new(database.url()).with(&[API, API, API, WORKER, WORKER, SCHEDULER]);
    let _activity = sells_exactly_the_stock(&shop, 3, &json!({}));
}

#[test]
fn three_apis_and_two_workers_sell_exactly_the_stock_on_redis_and_postgresql() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[API, API, API, WORKER, WORKER, SCHEDULER]);
    let _activity = sells_exactly_the_stock(&shop, 3, &json!({}));
}

#[test]
fn two_apis_and_two_workers_sell_exactly_the_stock_of_four_shards_behind_sentinel() {
    let (set, database) = (SharedSentinel::take(), Postgres::fresh());
    let shop = Shop::on(set.url(), set.master(), database.url());
    let shop = shop.with(&[API, API, WORKER, WORKER, SCHEDULER]);
    let _activity = sells_exactly_the_stock(&shop, 2, &json!({"shards": 4}));
}

#[test]
fn two_apis_and_two_workers_sell_exactly_the_stock_of_four_shards_on_a_cluster() {
    let (cluster, database) = (SharedCluster::take(), Postgres::fresh());
    let shop = Shop::on(cluster.url(), cluster.owner("{seckill}:sales"), database.url());
    let shop = shop.with(&[API, API, WORKER, WORKER, SCHEDULER]);
    let activity = sells_exactly_the_stock(&shop, 2, &json!({"shards": 4}));
    let servers = (0..4).map(|shard| {
        let meta = format!("{{a:{activity}:{shard}}}:meta");
        let server = cluster.owner(&meta);
        assert!(
            server.command(&["EXISTS", &meta]).expect("answers").starts_with(":1"),
            "{meta}"
        );
        server.address()
    });
    let servers: BTreeSet<_> = servers.collect();
    assert_eq!(servers.len(), 3, "its shards lie on all masters: {servers:?}");
}

/// Waits until a purchase of `user` at `node` is answered so.
fn until_buying_says(node: &Server, activity: u64, user: &str, status: u16) {
    let buy = || node.buy(activity, user, "k").expect("answers").status;
    let _status = node.until(buy, |said| *said == status);
}

/// The admin API of `node`, where it agrees.
fn admin(node: &Server, method: &str, path: &str, body: &Value) {
    let answer = node.as_admin(method, path, Some(body));
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn what_an_operator_does_at_one_node_holds_at_all_of_them() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[API, API, SCHEDULER]);
    let (here, there) = (&shop.nodes[0], &shop.nodes[1]);
    let activity = here.sale(1, &json!({}));
    there.knows(activity);
    let path = format!("/admin/api/activities/{activity}");
    admin(here, "POST", &format!("{path}/pause"), &json!({}));
    until_buying_says(there, activity, "a", 503);
    admin(here, "POST", &format!("{path}/resume"), &json!({}));
    until_buying_says(there, activity, "a", 202);
    until_buying_says(there, activity, "b", 410);
    admin(here, "POST", &format!("{path}/add-stock"), &json!({"quantity": 1}));
    until_buying_says(there, activity, "b", 202);
    admin(here, "PATCH", "/admin/api/switches", &json!({"entry_open": false}));
    until_buying_says(there, activity, "c", 503);
}

#[test]
fn another_scheduler_goes_on_where_one_was_killed() {
    let database = Postgres::fresh();
    let mut shop = Shop::new(database.url()).with(&[API, SCHEDULER, SCHEDULER]);
    let waits = |node: usize| shop.nodes[node].log().contains("another node schedules now");
    let _one_waits = shop.nodes[0].until(|| waits(1) || waits(2), |waits| *waits);
    let leader = if waits(1) { 2 } else { 1 };
    shop.nodes[leader].kill();
    shop.nodes[3 - leader].until_logged("this node schedules from now on");
    // Nobody preheats by hand.
    let activity = shop.nodes[0].created(2, &json!({}));
    until_buying_says(&shop.nodes[0], activity, "a", 202);
}

/// Script calls that the store has had.
fn script_calls(redis: &Redis) -> u64 {
    let stats = redis.command(&["INFO", "commandstats"]).expect("answers");
    let of_scripts = stats.lines().filter(|line| line.starts_with("cmdstat_evalsha:"));
    let calls = of_scripts.filter_map(|line| line.split_once("calls=")?.1.split(',').next()?.parse::<u64>().ok());
    calls.sum()
}

#[test]
fn strangers_who_come_after_the_sell_out_do_not_reach_the_store() {
    const STRANGERS: u64 = 50;
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[API, WORKER, SCHEDULER]);
    let node = &shop.nodes[0];
    let activity = node.sale(1, &json!({}));
    assert_eq!(node.buy(activity, "a", "k").expect("answers").status, 202);
    let _books = node.settled(activity);
    // From when the node holds all buyers of the sale, it refuses by itself: but for the looks around that every node takes, and which may
    // fall between, there is no call. One that asked the store for each of them would never get there.
    let (mut number, mut refused_alone) = (0, 0);
    let refuse = || {
        number += 1;
        let before = script_calls(&shop.redis);
        assert_eq!(
            node.buy(activity, &format!("s{number}"), "k").expect("answers").status,
            410
        );
        refused_alone += u64::from(script_calls(&shop.redis) == before);
        refused_alone
    };
    let _alone = node.until(refuse, |alone| *alone == STRANGERS);
    // He who has a ticket hears of it all the same.
    let again = node.buy(activity, "a", "other").expect("answers");
    assert_eq!((again.status, again.code()), (409, 40_004));
}
