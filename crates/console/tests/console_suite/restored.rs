//! A ledger that is restored from an older copy while nodes run: they follow it, whatever numbers stood there before.

use std::net::IpAddr;
use std::sync::Arc;

use http::Method;
use seckill_ledger::Operations;
use seckill_sale::UserId;
use serde_json::{Value, json};

use crate::house::{House, NOW};
use crate::tap::{SWITCHES, lock, stored};

/// A copy of the whole ledger.
pub(crate) fn copy(house: &House) {
    let to = house.database.with_extension("copy");
    let copied = format!("VACUUM INTO '{}'", to.display());
    connection(house).execute_batch(&copied).expect("copied");
}

/// What puts rows of the copy back.
fn back(house: &House, tables: &[&str]) -> String {
    let from = house.database.with_extension("copy");
    let table = |name: &&str| format!("DELETE FROM {name}; INSERT INTO main.{name} SELECT * FROM copy.{name};");
    let tables: String = tables.iter().map(table).collect();
    format!(
        "PRAGMA foreign_keys = OFF; ATTACH '{}' AS copy; {tables} DETACH copy;",
        from.display()
    )
}

pub(crate) fn restore(house: &House, tables: &[&str]) {
    connection(house).execute_batch(&back(house, tables)).expect("restored");
}

fn connection(house: &House) -> rusqlite::Connection {
    rusqlite::Connection::open(&house.database).expect("the database")
}

pub(crate) async fn turn(house: &House, change: Value) {
    house.patch(SWITCHES, change).await.is(200, 0);
}

/// What the operator is shown: the share that is let in, the room for tickets, and the revision.
pub(crate) async fn shown(house: &House) -> Value {
    let shown = house.get(SWITCHES).await;
    let shown = shown.is(200, 0).data();
    json!([shown["admit_ratio"], shown["backlog_max"], shown["revision"]])
}

#[tokio::test]
async fn switches_of_an_earlier_revision_are_in_force_and_changed_by_it() {
    let house = House::new();
    let (gate, behind, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    turn(&house, json!({"admit_ratio": 0.5})).await;
    copy(&house);
    for backlog_max in [7, 8, 9] {
        turn(&house, json!({"admit_ratio": 1, "backlog_max": backlog_max})).await;
    }
    behind.refresh().await.expect("the ledger answers");
    restore(&house, &["switches"]);
    for console in [&house.console, &behind] {
        console.refresh().await.expect("the ledger answers");
    }
    assert_eq!(shown(&house).await, json!([0.5, 200_000, 1]));
    let there = gate.switches();
    assert_eq!((there.admit_ratio, there.backlog_max), (0.5, 200_000));
    let change = json!({"revision": 1, "backlog_max": 6});
    let request = house.ask(Method::PATCH, SWITCHES).operator().json(&change);
    request.at(&behind).send().await.is(200, 0);
    house.console.refresh().await.expect("the ledger answers");
    assert_eq!(shown(&house).await, json!([0.5, 6, 2]));
}

#[tokio::test]
async fn a_ledger_that_never_had_switches_takes_them_back_to_the_settings() {
    let house = House::new();
    copy(&house);
    turn(&house, json!({"admit_ratio": 0.5, "backlog_max": 7})).await;
    restore(&house, &["switches"]);
    house.console.refresh().await.expect("the ledger answers");
    assert_eq!(shown(&house).await, json!([1.0, 200_000, 0]));
    turn(&house, json!({"revision": 0, "admit_ratio": 0.25})).await;
    assert_eq!(shown(&house).await, json!([0.25, 200_000, 1]));
}

#[tokio::test]
async fn other_switches_of_the_same_revision_are_in_force() {
    let house = House::new();
    let (_, other, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    copy(&house);
    turn(&house, json!({"admit_ratio": 0.5})).await;
    restore(&house, &["switches"]);
    // All of it between two looks of this node.
    let change = json!({"backlog_max": 7});
    let request = house.ask(Method::PATCH, SWITCHES).operator().json(&change);
    request.at(&other).send().await.is(200, 0);
    house.console.refresh().await.expect("the ledger answers");
    assert_eq!(shown(&house).await, json!([1.0, 7, 1]));
}

#[tokio::test]
async fn a_shut_that_the_ledger_has_not_got_is_written_over_what_was_restored() {
    for store_hangs in [false, true] {
        let house = House::new();
        turn(&house, json!({"admit_ratio": 0.5})).await;
        copy(&house);
        turn(&house, json!({"admit_ratio": 1, "backlog_max": 7})).await;
        let locked = lock(&house);
        if store_hangs {
            house.engine.hang().await;
        }
        let shut = house.patch(SWITCHES, json!({"entry_open": false})).await;
        let (status, code) = if store_hangs { (503, 50302) } else { (200, 0) };
        shut.is(status, code);
        locked.execute_batch("ROLLBACK").expect("let go");
        restore(&house, &["switches"]);
        house.console.refresh().await.expect("the ledger answers");
        assert!(!house.gate.switches().entry_open);
        let stored = stored(&house).await;
        let figures = (&stored["entry_open"], &stored["admit_ratio"], &stored["backlog_max"]);
        assert_eq!(figures, (&json!(false), &json!(0.5), &json!(200_000)), "{store_hangs}");
        assert_eq!(shown(&house).await, json!([0.5, 200_000, 2]), "{store_hangs}");
    }
}

#[tokio::test]
async fn a_return_of_what_was_restored_is_carried_out_and_one_that_was_lost_is_not() {
    let house = House::new();
    turn(
        &house,
        json!({"entry_open": false, "expires_at": "2026-11-11T00:00:10Z"}),
    )
    .await;
    copy(&house);
    turn(&house, json!({"entry_open": true})).await;
    turn(
        &house,
        json!({"admit_ratio": 0.5, "expires_at": "2026-11-11T00:00:10Z"}),
    )
    .await;
    restore(&house, &["switches"]);
    house.console.refresh().await.expect("the ledger answers");
    assert!(!house.gate.switches().entry_open);
    house.clock.advance(10_000);
    house.console.refresh().await.expect("the ledger answers");
    assert!(house.gate.switches().entry_open);
    let stored = house.ledger.switches().await.expect("read").expect("set");
    assert_eq!(stored.revision, 2, "{}", stored.json);
}

#[tokio::test]
async fn switches_that_cannot_be_read_are_not_written_over_by_what_went_back() {
    let house = House::new();
    turn(
        &house,
        json!({"admit_ratio": 0.5, "expires_at": "2026-11-11T00:00:10Z"}),
    )
    .await;
    let newer = r#"UPDATE switches SET revision = 2, json = '{"of":"a newer version"}'"#;
    connection(&house).execute_batch(newer).expect("written");
    house.clock.advance(10_000);
    house.console.refresh().await.expect("the ledger answers");
    assert_eq!(stored(&house).await, json!({"of": "a newer version"}));
    assert_eq!(house.gate.switches().admit_ratio, 1.0);
}

#[tokio::test]
async fn blocks_are_those_of_the_ledger() {
    let house = House::new();
    let block = |user: &str| house.post("/admin/api/blocks", json!({"kind": "user", "value": user}));
    let is_blocked = |user: &str| {
        let (user, here) = (UserId::new(user).expect("a user id"), IpAddr::from([1, 1, 1, 1]));
        house.gate.blocks().check(here, &user, None, NOW).is_err()
    };
    block("mallory").await.is(201, 0);
    copy(&house);
    block("oscar").await.is(201, 0);
    assert_eq!([is_blocked("mallory"), is_blocked("oscar")], [true, true]);
    restore(&house, &["blocks"]);
    house.console.refresh().await.expect("the ledger answers");
    assert_eq!([is_blocked("mallory"), is_blocked("oscar")], [true, false]);
}
