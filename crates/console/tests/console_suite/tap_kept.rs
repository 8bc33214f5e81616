//! Switches that the store keeps for the ledger, where nodes change them beside each other or a layer is away.

use std::sync::Arc;

use futures_util::future::join_all;
use http::Method;
use seckill_console::Console;
use seckill_gate::Switches;
use seckill_ledger::Operations as _;
use seckill_stock::Brake as _;
use serde_json::{Value, json};

use crate::house::{House, NOW};
use crate::tap::{SWITCHES, lock, rows, stored};

pub(crate) async fn patch_at(house: &House, console: &Arc<Console>, patch: &Value) -> Value {
    let asked = house.ask(Method::PATCH, SWITCHES).operator().json(patch);
    asked.at(console).send().await.is(200, 0).data().clone()
}

/// Another node writes the row behind `expected`.
pub(crate) async fn write(house: &House, expected: u64, entry_open: bool) {
    let switches = Switches {
        entry_open,
        revision: expected + 1,
        ..Switches::open(200_000)
    };
    let json = serde_json::to_string(&switches).expect("plain data");
    let context = seckill_ledger::Context {
        actor: "admin".to_owned(),
        now: NOW,
        idempotency: None,
    };
    let set = house.ledger.set_switches(json, expected, context).await;
    assert_eq!(set, Ok(expected + 1));
}

/// The store keeps the switches with a shut entrance for a node that could not write to the ledger, whose row is `base`.
async fn keep_shut_of_another_node(house: &House, base: u64) {
    let shut = Switches {
        entry_open: false,
        ..Switches::open(200_000)
    };
    keep(house, Some(json!({"base": base, "switches": shut}))).await;
}

/// The store keeps this for another node, which has seen what it keeps now.
pub(crate) async fn keep(house: &House, kept: Option<Value>) {
    let seen = house.store.kept_switches().await.expect("is read");
    let kept = kept.map(|kept| kept.to_string());
    let now = house.store.keep_switches(seen, kept.clone()).await;
    assert_eq!(now, Ok(kept));
}

#[tokio::test]
async fn what_another_node_had_kept_and_has_written_meanwhile_is_not_written_again() {
    let house = House::new();
    // Again as if the store were about to hear that the ledger has it.
    for _ in 0..2 {
        keep_shut_of_another_node(&house, 0).await;
        house.console.refresh().await.expect("the ledger answers");
    }
    let shown = house.get(SWITCHES).await;
    let shown = shown.is(200, 0).data();
    assert_eq!(
        (&shown["entry_open"], &shown["revision"], &shown["ledger_pending"]),
        (&json!(false), &json!(1), &json!(false))
    );
    assert_eq!(rows(&house).await.len(), 1);
}

#[tokio::test]
async fn what_another_node_keeps_on_an_earlier_row_opens_nothing_that_was_shut_since() {
    let house = House::new();
    house.patch(SWITCHES, json!({"entry_open": false})).await.is(200, 0);
    let _locked = lock(&house);
    let lowered = Switches {
        admit_ratio: 0.5,
        ..Switches::open(200_000)
    };
    keep(&house, Some(json!({"base": 0, "switches": lowered}))).await;
    house.console.refresh().await.expect("the ledger can be read");
    let switches = house.gate.switches();
    assert_eq!((switches.entry_open, switches.admit_ratio), (false, 0.5));
}

#[tokio::test]
async fn what_another_node_had_kept_and_has_taken_back_is_in_force_no_more() {
    let house = House::new();
    house.patch(SWITCHES, json!({"admit_ratio": 0.5})).await.is(200, 0);
    let locked = lock(&house);
    keep_shut_of_another_node(&house, 1).await;
    house.console.refresh().await.expect("the ledger can be read");
    assert!(!house.gate.switches().entry_open);
    keep(&house, None).await;
    drop(locked);
    house.console.refresh().await.expect("the ledger answers");
    assert!(house.gate.switches().entry_open);
    assert_eq!((house.gate.switches().admit_ratio, rows(&house).await.len()), (0.5, 1));
}

/// What a node leaves in the store that has written a row.
pub(crate) fn copy(revision: u64, switches: &Switches) -> Value {
    json!({"base": revision, "base_print": 1, "switches": Switches { revision, ..switches.clone() }, "is_copy": true})
}

#[tokio::test]
async fn a_change_that_is_kept_with_a_shut_is_not_lost_where_another_node_writes_the_shut_alone() {
    let house = House::new();
    let locked = lock(&house);
    let limit = json!({"limits": {"user": "1/s burst 3"}});
    for change in [json!({"entry_open": false}), limit.clone()] {
        let kept = house.patch(SWITCHES, change).await;
        assert_eq!(kept.is(200, 0).data()["ledger_pending"], true);
    }
    drop(locked);
    write(&house, 0, false).await;
    house.console.refresh().await.expect("the ledger answers");
    let stored = stored(&house).await;
    assert_eq!(
        (&stored["entry_open"], &stored["limits"]["user"]),
        (&json!(false), &json!("1/s burst 3")),
        "{stored}"
    );
}

#[tokio::test]
async fn what_nodes_have_kept_that_know_nothing_of_each_other_is_in_force_on_all_of_them() {
    let house = House::new();
    let (gate, other, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    let locked = lock(&house);
    house.patch(SWITCHES, json!({"entry_open": false})).await.is(200, 0);
    assert!(gate.switches().entry_open, "it has not heard of it yet");
    patch_at(&house, &other, &json!({"admit_ratio": 0.5})).await;
    let refreshed = || join_all([&house.console, &other].map(|node| node.refresh()));
    refreshed().await;
    for switches in [house.gate.switches(), gate.switches()] {
        assert_eq!((switches.entry_open, switches.admit_ratio), (false, 0.5));
    }
    drop(locked);
    assert!(refreshed().await.iter().all(Result::is_ok));
    let stored = stored(&house).await;
    assert_eq!(
        (&stored["entry_open"], &stored["admit_ratio"]),
        (&json!(false), &json!(0.5))
    );
    assert!(refreshed().await.iter().all(Result::is_ok));
    let opened = patch_at(&house, &other, &json!({"entry_open": true})).await;
    assert_eq!(
        (&opened["ledger_pending"], &opened["admit_ratio"]),
        (&json!(false), &json!(0.5))
    );
    assert!(refreshed().await.iter().all(Result::is_ok));
    assert!(house.gate.switches().entry_open);
}

#[tokio::test]
async fn a_store_that_lost_a_shut_before_the_database_had_it_is_told_again() {
    let house = House::new();
    let locked = lock(&house);
    house.patch(SWITCHES, json!({"entry_open": false})).await.is(200, 0);
    keep(&house, None).await;
    house.console.refresh().await.expect("the ledger is not asked");
    assert!(!house.gate.switches().entry_open);
    assert_ne!(house.store.kept_switches().await, Ok(None));
    drop(locked);
    house.console.refresh().await.expect("the ledger answers");
    assert_eq!(stored(&house).await["entry_open"], false);
    assert!(!house.gate.switches().entry_open);
}

#[tokio::test]
async fn a_node_cut_off_from_the_store_shuts_nothing_again_that_was_opened_since() {
    let house = House::new();
    let locked = lock(&house);
    house.patch(SWITCHES, json!({"entry_open": false})).await.is(200, 0);
    drop(locked);
    // Another node writes it, and is told to open.
    write(&house, 0, false).await;
    write(&house, 1, true).await;
    keep(&house, Some(copy(2, &Switches::open(200_000)))).await;
    house.engine.hang().await;
    house.console.refresh().await.expect("the ledger answers");
    assert!(!house.gate.switches().entry_open, "it can't know yet");
    assert_eq!(stored(&house).await["revision"], 2);
    house.engine.answer_again().await;
    house.console.refresh().await.expect("the ledger answers");
    assert!(house.gate.switches().entry_open);
    assert_eq!(stored(&house).await["revision"], 2);
}
