//! Switches of nodes that know different rows of the ledger, or are cut off from it.

use std::sync::Arc;

use seckill_gate::Switches;
use serde_json::json;

use crate::house::House;
use crate::tap::{SWITCHES, lock, stored};
use crate::tap_kept::{copy, keep, patch_at};

#[tokio::test]
async fn a_node_that_has_not_read_the_last_row_keeps_its_change_on_top_of_it() {
    let house = House::new();
    let (gate, behind, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    house.patch(SWITCHES, json!({"entry_open": false})).await.is(200, 0);
    let locked = lock(&house);
    house.patch(SWITCHES, json!({"admit_ratio": 0.6})).await.is(200, 0);
    behind.refresh().await.expect("the ledger can be read");
    assert_eq!((gate.switches().entry_open, gate.switches().admit_ratio), (false, 0.6));
    patch_at(&house, &behind, &json!({"admit_ratio": 0.5})).await;
    drop(locked);
    for node in [&behind, &house.console] {
        node.refresh().await.expect("the ledger answers");
    }
    let stored = stored(&house).await;
    assert_eq!(
        (&stored["entry_open"], &stored["admit_ratio"]),
        (&json!(false), &json!(0.5))
    );
    assert!(!gate.switches().entry_open && !house.gate.switches().entry_open);
}

#[tokio::test]
async fn nothing_that_lets_buyers_in_is_kept_while_something_else_keeps_them_out() {
    let house = House::new();
    let shut = json!({"entry_open": false, "read_only": true, "admit_ratio": 0.5});
    house.patch(SWITCHES, shut).await.is(200, 0);
    let locked = lock(&house);
    for opens in [
        json!({"entry_open": true}),
        json!({"read_only": false}),
        json!({"admit_ratio": 0.6}),
        json!({"read_only": false, "backlog_max": 5}),
    ] {
        house.patch(SWITCHES, opens).await.is(503, 50300);
    }
    let kept = house
        .patch(SWITCHES, json!({"admit_ratio": 0.4, "backlog_max": 5}))
        .await;
    assert_eq!(kept.is(200, 0).data()["ledger_pending"], true);
    drop(locked);
    house.console.refresh().await.expect("the ledger answers");
    let stored = stored(&house).await;
    assert_eq!(
        (&stored["admit_ratio"], &stored["backlog_max"]),
        (&json!(0.4), &json!(5))
    );
}

#[tokio::test]
async fn whoever_kept_something_that_is_kept_no_more_does_what_the_row_says() {
    let house = House::new();
    house.patch(SWITCHES, json!({"backlog_max": 5})).await.is(200, 0);
    let locked = lock(&house);
    house.patch(SWITCHES, json!({"admit_ratio": 0.5})).await.is(200, 0);
    // Another node has written it, and what came of it is read here in its turn.
    keep(&house, Some(copy(2, &Switches::open(5)))).await;
    drop(locked);
    house.console.refresh().await.expect("the ledger answers");
    let switches = house.gate.switches();
    assert_eq!((switches.admit_ratio, switches.backlog_max), (1.0, 5));
    let shown = house.get(SWITCHES).await;
    assert_eq!(shown.is(200, 0).data()["ledger_pending"], false);
}

#[tokio::test]
async fn the_store_alone_tells_other_nodes_of_a_shut_whether_the_ledger_has_it_or_not() {
    let house = House::new();
    let (gate, other, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    for is_locked in [false, true] {
        let locked = is_locked.then(|| lock(&house));
        house.patch(SWITCHES, json!({"entry_open": false})).await.is(200, 0);
        other.watch_switches().await;
        assert!(!gate.switches().entry_open, "{is_locked}");
        drop(locked);
        house.patch(SWITCHES, json!({"entry_open": true})).await.is(200, 0);
        other.watch_switches().await;
        assert!(gate.switches().entry_open, "it shuts nothing that was opened since");
    }
}

#[tokio::test]
async fn a_node_that_has_only_seen_a_shut_is_open_as_soon_as_it_is_told_to_open() {
    let house = House::new();
    let (gate, other, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    house.patch(SWITCHES, json!({"entry_open": false})).await.is(200, 0);
    other.watch_switches().await;
    assert!(!gate.switches().entry_open);
    let opened = patch_at(&house, &other, &json!({"entry_open": true})).await;
    assert_eq!(opened["entry_open"], true);
    assert!(gate.switches().entry_open);
}

#[tokio::test]
async fn a_change_on_an_older_row_does_not_take_a_later_shut_out_of_the_store() {
    let house = House::new();
    let (_, behind, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    let (gate, third, _) = house.another_node(Arc::new(house.store.clone()), "node-3").await;
    house.patch(SWITCHES, json!({"entry_open": false})).await.is(200, 0);
    let locked = lock(&house);
    patch_at(&house, &behind, &json!({"admit_ratio": 0.5})).await;
    third.watch_switches().await;
    assert_eq!((gate.switches().entry_open, gate.switches().admit_ratio), (false, 0.5));
    drop(locked);
    for node in [&behind, &third] {
        node.refresh().await.expect("the ledger answers");
    }
    let stored = stored(&house).await;
    assert_eq!(
        (&stored["entry_open"], &stored["admit_ratio"]),
        (&json!(false), &json!(0.5))
    );
}
