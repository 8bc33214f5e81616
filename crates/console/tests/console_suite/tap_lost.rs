//! Shuts that the store loses before the ledger has them: it is empty, or went back to an earlier state.

use std::sync::Arc;

use seckill_ledger::Operations as _;
use seckill_stock::Brake as _;
use serde_json::json;

use crate::brake_hanging::is_shut;
use crate::house::House;
use crate::tap::{SWITCHES, lock, stored};
use crate::tap_kept::keep;

/// What the store has before a node shuts the entrance, and after it has gone back.
#[derive(Debug, Clone, Copy)]
enum Earlier {
    Nothing,
    CopyOfTheRow,
    Shut,
}

#[tokio::test]
async fn a_shut_that_the_store_has_lost_is_told_again_by_whoever_has_seen_it() {
    for earlier in [Earlier::Nothing, Earlier::CopyOfTheRow, Earlier::Shut] {
        let house = House::new();
        let (gate, other, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
        if let Earlier::CopyOfTheRow = earlier {
            house.patch(SWITCHES, json!({"backlog_max": 5_000})).await.is(200, 0);
            other.refresh().await.expect("read");
        }
        let locked = lock(&house);
        if let Earlier::Shut = earlier {
            house.patch(SWITCHES, json!({"admit_ratio": 0.5})).await.is(200, 0);
        }
        let text = house.store.kept_switches().await.expect("read");
        house.clock.advance(1);
        let shut = house.patch(SWITCHES, json!({"entry_open": false})).await;
        assert_eq!(shut.is(200, 0).data()["ledger_pending"], true, "{earlier:?}");
        let _unread = other.refresh().await;
        let back = text.map(|text| serde_json::from_str(&text).expect("json"));
        keep(&house, back).await;
        drop(locked);
        // The node that was told has ended.
        other.refresh().await.expect("the ledger answers");
        assert_eq!(stored(&house).await["entry_open"], false, "{earlier:?}");
        assert!(is_shut(&gate));
        house.console.refresh().await.expect("the ledger answers");
        house.patch(SWITCHES, json!({"entry_open": true})).await.is(200, 0);
        for node in [&other, &house.console] {
            node.refresh().await.expect("the ledger answers");
        }
        assert!(!is_shut(&gate) && !is_shut(&house.gate), "{earlier:?}");
    }
}

#[tokio::test]
async fn a_shut_that_is_in_the_ledger_and_was_opened_since_is_not_told_again() {
    let house = House::new();
    let locked = lock(&house);
    house.patch(SWITCHES, json!({"entry_open": false})).await.is(200, 0);
    let text = house.store.kept_switches().await.expect("read").expect("kept");
    drop(locked);
    house.console.refresh().await.expect("the ledger answers");
    house.clock.advance(1);
    house.patch(SWITCHES, json!({"entry_open": true})).await.is(200, 0);
    keep(&house, Some(serde_json::from_str(&text).expect("json"))).await;
    for _ in 0..2 {
        house.console.refresh().await.expect("the ledger answers");
    }
    let row = house.ledger.switches().await.expect("read").expect("set");
    assert_eq!(
        (stored(&house).await["entry_open"].clone(), row.revision),
        (json!(true), 2)
    );
    assert!(!is_shut(&house.gate));
}
