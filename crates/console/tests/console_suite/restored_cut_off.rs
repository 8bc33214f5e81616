//! A ledger that is restored while a node can't ask it: the store tells of what others shut.

use std::sync::Arc;

use serde_json::json;

use crate::house::House;
use crate::restored::{copy, restore, shown, turn};
use crate::tap_kept::write;

/// It asks the store alone.
#[tokio::test]
async fn a_node_that_is_cut_off_obeys_a_shut_of_an_earlier_revision_and_its_end() {
    let house = House::new();
    let (gate, cut_off, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    let obeys = async || {
        cut_off.watch_switches().await;
        !gate.switches().entry_open
    };
    turn(&house, json!({"entry_open": false})).await;
    copy(&house);
    for change in [
        json!({"entry_open": true}),
        json!({"backlog_max": 7}),
        json!({"backlog_max": 8}),
    ] {
        turn(&house, change).await;
    }
    cut_off.refresh().await.expect("the ledger answers");
    assert!(!obeys().await);
    restore(&house, &["switches"]);
    house.console.refresh().await.expect("the ledger answers");
    assert!(obeys().await, "as it was before the copy was made");
    turn(&house, json!({"entry_open": true})).await;
    assert!(!obeys().await);
    turn(&house, json!({"entry_open": false})).await;
    assert!(obeys().await);
    turn(&house, json!({"entry_open": true})).await;
    assert_eq!(
        shown(&house).await,
        json!([1.0, 200_000, 4]),
        "the revision that it knows"
    );
    assert!(!obeys().await);
    turn(&house, json!({"entry_open": false})).await;
    assert!(obeys().await);
}

#[tokio::test]
async fn a_copy_that_the_store_has_still_of_an_earlier_row_shuts_nothing_but_does_when_it_comes_back() {
    let house = House::new();
    let (gate, other, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    turn(&house, json!({"entry_open": false})).await;
    copy(&house);
    other.refresh().await.expect("the ledger answers");
    // The store is told of the row that opens only after it was seen.
    house.engine.hang().await;
    write(&house, 1, true).await;
    other.refresh().await.expect("the ledger answers");
    house.engine.answer_again().await;
    for _ in 0..2 {
        other.watch_switches().await;
        assert!(gate.switches().entry_open);
        house.console.refresh().await.expect("the ledger answers");
    }
    restore(&house, &["switches"]);
    house.console.refresh().await.expect("the ledger answers");
    other.watch_switches().await;
    assert!(!gate.switches().entry_open);
}
