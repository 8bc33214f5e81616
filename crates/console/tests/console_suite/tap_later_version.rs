//! Switches that a later version wrote, which this one can't read: nothing is written over them, and what they shut is shut here.

use std::sync::Arc;

use seckill_gate::Switches;
use seckill_ledger::{Context, Operations as _};
use seckill_stock::Brake as _;
use serde_json::{Value, json};

use crate::house::{House, NOW};
use crate::restored::{copy, restore};
use crate::tap::{SWITCHES, lock, stored};
use crate::tap_kept::keep;

/// What a later version says: these switches, and something more.
fn later(change: impl FnOnce(&mut Switches)) -> Value {
    let mut switches = Switches::open(200_000);
    change(&mut switches);
    let mut later = json!(switches);
    later["of_a_later_version"] = json!(1);
    later
}

/// Another node writes the row behind `expected`.
async fn write(house: &House, expected: u64, switches: &Value) {
    let context = Context {
        actor: "admin".to_owned(),
        now: NOW,
        idempotency: None,
    };
    let set = house.ledger.set_switches(switches.to_string(), expected, context).await;
    assert_eq!(set, Ok(expected + 1));
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_changed_by_no_patch_and_gets_a_shut_from_whoever_can_read_it() {
    let house = House::new();
    let later = later(|switches| switches.admit_ratio = 0.5);
    write(&house, 0, &later).await;
    for change in [json!({"backlog_max": 5}), json!({"admit_ratio": 1, "read_only": false})] {
        let refused = house.patch(SWITCHES, change).await;
        assert!(refused.is(409, 40900).text.contains("a later version"));
    }
    let shut = house.patch(SWITCHES, json!({"entry_open": false})).await;
    assert_eq!(shut.is(200, 0).data()["ledger_pending"], true);
    let open = house.patch(SWITCHES, json!({"entry_open": true})).await;
    assert!(open.is(409, 40900).text.contains("a later version"));
    house.console.refresh().await.expect("the ledger answers");
    assert!(!house.gate.switches().entry_open);
    assert_eq!(stored(&house).await, later);
    // As a node of the later version, to which all of it is readable.
    let row = Switches {
        admit_ratio: 0.5,
        ..Switches::open(7)
    };
    write(&house, 1, &json!(row)).await;
    house.console.refresh().await.expect("the ledger answers");
    let stored = stored(&house).await;
    let figures = ["entry_open", "admit_ratio", "backlog_max"].map(|name| stored[name].clone());
    assert_eq!(figures, [json!(false), json!(0.5), json!(7)]);
}

#[tokio::test]
async fn what_a_row_shuts_that_cannot_be_read_is_shut_until_one_can() {
    let house = House::new();
    house.patch(SWITCHES, json!({"backlog_max": 7})).await.is(200, 0);
    copy(&house);
    let shut = later(|switches| switches.entry_open = false);
    let is_shut = async || {
        house.console.refresh().await.expect("the ledger answers");
        !house.gate.switches().entry_open
    };
    write(&house, 1, &shut).await;
    assert!(is_shut().await);
    restore(&house, &["switches"]);
    assert!(!is_shut().await, "the row that it knew");
    write(&house, 1, &shut).await;
    assert!(is_shut().await);
    write(&house, 2, &json!(Switches::open(8))).await;
    assert!(!is_shut().await, "a later one");
}

#[tokio::test]
async fn what_the_store_keeps_that_cannot_be_read_stays_and_is_obeyed_where_it_shuts() {
    let house = House::new();
    let (gate, other, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    let shut = later(|switches| switches.entry_open = false);
    keep(&house, Some(json!({"base": 0, "switches": shut}))).await;
    let kept = house.store.kept_switches().await;
    other.watch_switches().await;
    assert!(!gate.switches().entry_open);
    house.console.refresh().await.expect("the ledger answers");
    let open = house.patch(SWITCHES, json!({"admit_ratio": 1})).await;
    assert!(open.is(409, 40900).text.contains("a later version"));
    house.patch(SWITCHES, json!({"admit_ratio": 0.5})).await.is(200, 0);
    let locked = lock(&house);
    for share in [0.2, 0.1] {
        let lower = house.patch(SWITCHES, json!({"admit_ratio": share})).await;
        lower.is(503, 50302);
        house.console.refresh().await.expect("the ledger can be read");
        assert_eq!(house.gate.switches().admit_ratio, share);
        assert_eq!(house.store.kept_switches().await, kept);
    }
    drop(locked);
    for _ in 0..2 {
        house.console.refresh().await.expect("the ledger answers");
        assert_eq!(house.store.kept_switches().await, kept);
    }
    assert_eq!(stored(&house).await["admit_ratio"], 0.1);
}

#[tokio::test]
async fn a_copy_that_cannot_be_read_makes_room_for_one_of_the_same_row_or_a_later_one() {
    let house = House::new();
    house.console.refresh().await.expect("the ledger answers");
    let unreadable = |base: u64| json!({"base": base, "is_copy": true, "switches": later(|_| ())});
    for (base, stays) in [(1, false), (1, false), (9, true)] {
        keep(&house, Some(unreadable(base))).await;
        let kept = house.store.kept_switches().await;
        for change in [json!({"backlog_max": 7 + base}), json!({"entry_open": false})] {
            house.patch(SWITCHES, change).await.is(200, 0);
        }
        assert_eq!(house.store.kept_switches().await == kept, stays, "{base}");
    }
}
