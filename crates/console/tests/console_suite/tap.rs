//! The operator's hand on the tap: changes made for a revision, and tried beforehand.

use std::sync::Arc;

use http::Method;
use seckill_ledger::Operations;
use serde_json::{Value, json};

use crate::house::House;

pub(crate) const SWITCHES: &str = "/admin/api/switches";

/// Actors and actions of all audit rows, newest first.
pub(crate) async fn rows(house: &House) -> Vec<(String, String)> {
    let reply = house.get("/admin/api/audit-rows?limit=500").await;
    let word = |row: &Value, name: &str| row[name].as_str().expect("a word").to_owned();
    let rows = reply.is(200, 0).data()["audit_rows"].as_array().expect("rows").clone();
    rows.iter()
        .map(|row| (word(row, "actor"), word(row, "action")))
        .collect()
}

/// What the ledger keeps.
pub(crate) async fn stored(house: &House) -> Value {
    let stored = house.ledger.switches().await.expect("read").expect("set");
    serde_json::from_str(&stored.json).expect("JSON")
}

pub(crate) fn lock(house: &House) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(&house.database).expect("the database");
    connection.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    connection
}

#[tokio::test]
async fn a_patch_for_another_revision_than_the_one_in_force_changes_nothing() {
    let house = House::new();
    let first = json!({"revision": 0, "admit_ratio": 0.5});
    assert_eq!(house.patch(SWITCHES, first).await.is(200, 0).data()["revision"], 1);
    for stale in [0, 2] {
        let change = json!({"revision": stale, "entry_open": false, "backlog_max": 5});
        let refused = house.patch(SWITCHES, change).await;
        assert_eq!(refused.is(409, 40900).data()["revision"], 1, "{stale}");
        assert!(house.gate.switches().entry_open);
    }
    let both = json!({"revision": 1, "entry_open": false});
    assert_eq!(house.patch(SWITCHES, both).await.is(200, 0).data()["revision"], 2);
    assert_eq!(rows(&house).await.len(), 2);
}

#[tokio::test]
async fn another_node_that_has_not_heard_of_a_revision_yet_takes_and_refuses_patches_by_the_ledger() {
    let house = House::new();
    let (_, behind, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    house.patch(SWITCHES, json!({"admit_ratio": 0.5})).await.is(200, 0);
    let at_the_other = |change: Value| {
        let request = house.ask(Method::PATCH, SWITCHES).operator().json(&change);
        request.at(&behind).send()
    };
    at_the_other(json!({"revision": 0, "entry_open": false}))
        .await
        .is(409, 40900);
    let taken = at_the_other(json!({"revision": 1, "entry_open": false})).await;
    assert_eq!(taken.is(200, 0).data()["admit_ratio"], 0.5);
}

#[tokio::test]
async fn a_repetition_of_a_patch_that_was_made_for_its_revision_is_answered_again() {
    let house = House::new();
    let send = || {
        let request = house.ask(Method::PATCH, SWITCHES).operator();
        let request = request.header("idempotency-key", "k");
        request.json(&json!({"revision": 0, "admit_ratio": 0.5})).send()
    };
    assert!(!send().await.is(200, 0).is_replayed());
    assert!(send().await.is(200, 0).is_replayed());
    house.patch(SWITCHES, json!({"admit_ratio": 1})).await.is(200, 0);
    let late = send().await;
    assert_eq!(late.is(200, 0).data()["admit_ratio"], 1.0);
    assert!(late.is_replayed());
}

#[tokio::test]
async fn whoever_saw_switches_that_the_ledger_has_not_got_yet_may_change_them_by_that_revision() {
    let house = House::new();
    let locked = lock(&house);
    let shut = house.patch(SWITCHES, json!({"revision": 0, "entry_open": false})).await;
    assert_eq!(shut.is(200, 0).data()["ledger_pending"], true);
    drop(locked);
    house
        .patch(SWITCHES, json!({"revision": 0, "entry_open": true}))
        .await
        .is(200, 0);
    house
        .patch(SWITCHES, json!({"revision": 0, "entry_open": false}))
        .await
        .is(409, 40900);
    assert!(house.gate.switches().entry_open);
}

#[tokio::test]
async fn a_dry_run_says_who_will_hear_what_and_changes_nothing() {
    let house = House::new();
    let change = json!({"dry_run": true, "entry_open": false, "expires_at": "2026-11-11T01:00:00Z"});
    let tried = house.patch(SWITCHES, change).await;
    let data = tried.is(200, 0).data();
    assert_eq!(
        (&data["before"]["entry_open"], &data["after"]["entry_open"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        (&data["before"]["revision"], &data["after"]["revision"]),
        (&json!(0), &json!(1))
    );
    let effect = &data["effects"][0];
    assert_eq!(
        (&effect["who"], &effect["hears"]),
        (&json!("every buyer"), &json!(40_006))
    );
    assert_eq!(effect["until"], "2026-11-11T01:00:00.000Z");
    assert_eq!(rows(&house).await, []);
    assert!(house.gate.switches().entry_open);
    assert_eq!(house.get(SWITCHES).await.data()["revision"], 0);
    house
        .patch(SWITCHES, json!({"dry_run": true, "admit_ratio": 2}))
        .await
        .is(400, 40000);
    house
        .patch(SWITCHES, json!({"dry_run": true, "revision": 7}))
        .await
        .is(200, 0);
    house.patch(SWITCHES, json!({"admit_ratio": 0.5})).await.is(200, 0);
    house
        .patch(SWITCHES, json!({"dry_run": true, "revision": 0}))
        .await
        .is(409, 40900);
}
