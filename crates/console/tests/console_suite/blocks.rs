//! Blocks, set by hand and by the rules of abuse: in force on this node before the answer, and found by other nodes.

use http::{HeaderMap, Method};
use seckill_gate::{Gate, Moment, Request};
use seckill_sale::{EpochMs, UserId};
use serde_json::json;

use crate::house::{House, NOW};

pub(crate) fn is_blocked(gate: &Gate, client: &str, user: &str, now: EpochMs) -> bool {
    let user = UserId::new(user).expect("valid");
    gate.blocks()
        .check(client.parse().expect("an address"), &user, None, now)
        .is_err()
}

#[tokio::test]
async fn blocks_are_in_force_before_the_answer_and_end() {
    let house = House::new();
    let network =
        json!({"kind": "ip", "value": "10.1.2.3/8", "reason": "scalpers", "expires_at": "2026-11-11T01:00:00Z"});
    let made = house.post("/admin/api/blocks", network).await;
    assert_eq!(made.is(201, 0).data()["value"], "10.0.0.0/8");
    let user = house
        .post("/admin/api/blocks", json!({"kind": "user", "value": "mallory"}))
        .await
        .is(201, 0)
        .id();
    for gate in [house.gate.clone(), house.another_gate().await] {
        assert!(is_blocked(&gate, "10.9.9.9", "alice", NOW));
        assert!(is_blocked(&gate, "11.0.0.1", "mallory", NOW));
        assert!(!is_blocked(&gate, "11.0.0.1", "alice", NOW));
        assert!(!is_blocked(&gate, "10.9.9.9", "alice", NOW.plus(3_600_000)));
    }
    house
        .ask(Method::DELETE, &format!("/admin/api/blocks/{user}"))
        .operator()
        .send()
        .await
        .is(200, 0);
    assert!(!is_blocked(&house.gate, "11.0.0.1", "mallory", NOW));
    house
        .ask(Method::DELETE, &format!("/admin/api/blocks/{user}"))
        .operator()
        .send()
        .await
        .is(404, 40401);
    let list = house.get("/admin/api/blocks").await;
    assert_eq!(list.data()["blocks"].as_array().map(Vec::len), Some(1));
    house.clock.advance(3_600_000);
    let list = house.get("/admin/api/blocks").await;
    assert_eq!(list.data()["blocks"], json!([]));
}

/// Comes from 1.2.3.4 without an identity, more often than a rule allows.
fn hammer(gate: &Gate) {
    let headers = HeaderMap::new();
    for _ in 0..30 {
        let request = Request {
            peer: "1.2.3.4".parse().expect("an address"),
            signature: None,
            headers: &headers,
        };
        let moment = Moment::exact(NOW);
        let arrived = gate.arrive(request, moment).expect("no limit");
        assert!(gate.identify(arrived, moment).is_err());
    }
}

#[tokio::test]
async fn offenders_whom_a_gate_names_are_blocked_on_all_nodes() {
    let house = House::new();
    hammer(&house.gate);
    assert!(!is_blocked(&house.gate, "1.2.3.4", "alice", NOW));
    house.console.refresh().await.expect("the ledger answers");
    for gate in [house.gate.clone(), house.another_gate().await] {
        assert!(is_blocked(&gate, "1.2.3.4", "alice", NOW));
        assert!(!is_blocked(&gate, "1.2.3.5", "alice", NOW));
        assert!(!is_blocked(&gate, "1.2.3.4", "alice", NOW.plus(60_000)));
    }
    let list = house.get("/admin/api/blocks").await;
    let blocks = list.data()["blocks"].as_array().expect("a list").clone();
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0]["value"], "1.2.3.4/32");
    assert_eq!(
        blocks[0]["reason"],
        "refused more often than abuse.ip = \"60/min burst 20\" allows"
    );
    let rows = house.get("/admin/api/audit-rows?limit=1").await;
    assert_eq!(rows.data()["audit_rows"][0]["actor"], "abuse rule");
    house.console.refresh().await.expect("the ledger answers");
    let list = house.get("/admin/api/blocks").await;
    assert_eq!(list.data()["blocks"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn offenders_are_not_forgotten_while_the_blocks_cannot_be_read() {
    let house = House::new();
    hammer(&house.gate);
    let rename = |sql: &str| {
        let database = rusqlite::Connection::open(&house.database).expect("the database");
        database.execute_batch(sql).expect("renamed");
    };
    rename("ALTER TABLE blocks RENAME TO gone");
    house.console.refresh().await.expect_err("there are no blocks");
    rename("ALTER TABLE gone RENAME TO blocks");
    house.console.refresh().await.expect("the ledger answers");
    assert!(is_blocked(&house.gate, "1.2.3.4", "alice", NOW));
}

#[tokio::test]
async fn who_is_blocked_again_has_one_block_with_the_later_reason_and_end() {
    let house = House::new();
    let block = async |reason: &str, expires_at: Option<&str>| {
        let body = json!({"kind": "ip", "value": "1.2.3.4", "reason": reason, "expires_at": expires_at});
        house.post("/admin/api/blocks", body).await.is(201, 0).id()
    };
    let first = block("a scraper", None).await;
    assert_eq!(block("a shop", Some("2026-11-11T01:00:00Z")).await, first);
    let list = house.get("/admin/api/blocks").await;
    let blocks = list.data()["blocks"].as_array().expect("a list").clone();
    assert_eq!((blocks.len(), &blocks[0]["reason"]), (1, &json!("a shop")));
    // A rule takes back nothing that an operator has said.
    hammer(&house.gate);
    house.console.refresh().await.expect("the ledger answers");
    for gate in [house.gate.clone(), house.another_gate().await] {
        assert!(is_blocked(&gate, "1.2.3.4", "alice", NOW.plus(60_000)));
        assert!(!is_blocked(&gate, "1.2.3.4", "alice", NOW.plus(3_600_000)));
    }
    let rows = house.get("/admin/api/audit-rows?limit=1").await;
    let row = &rows.data()["audit_rows"][0];
    assert_eq!(
        (&row["action"], &row["before"]["reason"], &row["after"]["reason"]),
        (&json!("block.change"), &json!("a scraper"), &json!("a shop"))
    );
}

#[tokio::test]
async fn blocks_are_removed_by_whom_they_name() {
    let house = House::new();
    let body = json!({"kind": "user", "value": "mallory"});
    house.post("/admin/api/blocks", body).await.is(201, 0);
    let remove = |value: &'static str| {
        let request = house.ask(Method::DELETE, "/admin/api/blocks").operator();
        request
            .header("idempotency-key", "k")
            .json(&json!({"kind": "user", "value": value}))
            .send()
    };
    remove("nobody").await.is(404, 40401);
    let removed = remove("mallory").await;
    assert_eq!(removed.is(200, 0).data()["removed"], json!([1]));
    assert!(!is_blocked(&house.gate, "11.0.0.1", "mallory", NOW));
}
