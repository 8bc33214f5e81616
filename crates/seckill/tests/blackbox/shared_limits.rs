//! Limits that all nodes of a store count together, and blocks that one node's refusals lead to on all of them.

use seckill_testkit::{Database, PostgresServer, Server};
use serde_json::json;

use crate::shop::{API, SCHEDULER, Shop, WORKER};

const NODES: [&[&str]; 4] = [API, API, WORKER, SCHEDULER];

fn codes(nodes: [&Server; 2], activity: u64, user: &str, times: usize) -> Vec<i64> {
    let buy = |n: usize| nodes[n % 2].buy(activity, user, &format!("key-{n}"));
    (0..times).map(|n| buy(n).expect("answers").code()).collect()
}

#[test]
fn a_user_has_one_limit_at_all_nodes_and_a_sold_out_sale_asks_the_store_for_none() {
    let database: Database<PostgresServer> = Database::alone(&[]);
    let shop = Shop::new(database.url())
        .setting("SECKILL_LIMITS__USER", "1/min burst 3")
        .setting("SECKILL_LIMITS__SCOPE", "cluster")
        .with(&NODES);
    let nodes = [&shop.nodes[0], &shop.nodes[1]];
    let [wide, activity] = [1_000, 1].map(|units| nodes[0].sale(units, &json!({})));
    nodes[1].knows(wide);
    nodes[1].knows(activity);
    // Each node by itself would let him come three times. Where the store is late once, nobody is refused for that: the next user is looked at.
    let mut number = 0;
    let said = || {
        number += 1;
        codes(nodes, wide, &format!("user-{number}"), 6)
    };
    let _said = nodes[0].until(said, |said| *said == [0, 40_004, 40_004, 40_003, 40_003, 40_003]);
    assert_eq!(codes(nodes, activity, "alice", 1), [0]);
    let is_asked_for = |user: &str| {
        let answer = shop
            .redis
            .command(&["EXISTS", &format!("{{p:u:{activity}:{user}}}:rate")]);
        answer.expect("answers").contains(":1")
    };
    assert!(is_asked_for("alice"));
    for (place, node) in nodes.iter().enumerate() {
        let mut number = 0;
        let late = || {
            number += 1;
            let user = format!("late-{place}-{number}");
            let code = node.buy(activity, &user, "key").expect("answers").code();
            (code, is_asked_for(&user))
        };
        // Refused by memory alone, once this node knows all winners; and from then on.
        let _said = node.until(late, |said| *said == (40_005, false));
        for number in 0..20 {
            let user = format!("stranger-{place}-{number}");
            let code = node.buy(activity, &user, "key").expect("answers").code();
            assert_eq!((code, is_asked_for(&user)), (40_005, false));
        }
    }
}

#[test]
fn whoever_hammers_one_node_is_blocked_at_all_of_them() {
    let database: Database<PostgresServer> = Database::alone(&[]);
    let shop = Shop::new(database.url())
        .setting("SECKILL_LIMITS__USER", "1/min burst 3")
        .setting("SECKILL_ABUSE__USER", "60/min burst 10")
        .with(&NODES);
    let nodes = [&shop.nodes[0], &shop.nodes[1]];
    let activity = nodes[0].sale(10, &json!({}));
    nodes[1].knows(activity);
    let _hammered = codes([nodes[0], nodes[0]], activity, "bot", 30);
    for node in nodes {
        let buy = || node.buy(activity, "bot", "key").expect("answers").code();
        let _said = node.until(buy, |said| *said == 40_300);
        assert_eq!(node.buy(activity, "honest", "key").expect("answers").code(), 0);
    }
    let blocks = nodes[1].as_admin("GET", "/admin/api/blocks", None);
    let block = &blocks.data()["blocks"][0];
    assert_eq!(
        (&block["kind"], &block["value"]),
        (&json!("user"), &json!("bot")),
        "{blocks:?}"
    );
}

#[test]
fn keys_make_nobody_reach_the_store_ahead_of_the_start_nor_more_often_than_he_may_buy() {
    let database: Database<PostgresServer> = Database::alone(&[]);
    let shop = Shop::new(database.url())
        .setting("SECKILL_LIMITS__USER", "1/min burst 3")
        .with(&[API, SCHEDULER]);
    let node = &shop.nodes[0];
    let looked_up = || {
        let said = shop.redis.command(&["INFO", "commandstats"]).expect("answers");
        let calls = said
            .split("cmdstat_hget:calls=")
            .nth(1)
            .and_then(|rest| rest.split(',').next());
        calls.map_or(0, |calls| calls.parse().expect("a number"))
    };
    let refused = |activity: u64, expect: i64| {
        let before: u64 = looked_up();
        assert_eq!(codes([node, node], activity, "alice", 20), [expect; 20]);
        looked_up() - before
    };
    let early = node.sale(
        5,
        &json!({"starts_at": "2090-01-01T00:00:00Z", "ends_at": "2091-01-01T00:00:00Z"}),
    );
    assert_eq!(refused(early, 40_001), 0);
    let held = node.sale(5, &json!({}));
    assert_eq!(node.buy(held, "winner", "key").expect("answers").code(), 0);
    let _paused = node.as_admin("POST", &format!("/admin/api/activities/{held}/pause"), Some(&json!({})));
    assert!(refused(held, 40_006) <= 2 * 3);
    let again = node.buy(held, "winner", "key").expect("answers");
    assert_eq!(again.code(), 0, "a lost reply is told again: {again:?}");
}
