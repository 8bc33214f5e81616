//! A shut that neither ledger nor store heard of in time, and what was opened since.

use std::pin::pin;

use seckill_gate::Switches;
use seckill_ledger::{Context, Operations as _};
use seckill_sale::Clock as _;
use serde_json::{Value, json};

use crate::brake_hanging::TURNS;
use crate::house::House;
use crate::tap::{SWITCHES, lock, stored};
use crate::tap_kept::{copy, keep};

/// Another node, which this one can't hear, writes the next row.
async fn write(house: &House, actor: &str, change: &str) {
    house.clock.advance(1);
    let present = house.ledger.switches().await.expect("read");
    let (before, revision) = present.map_or_else(
        || (Switches::open(200_000), 0),
        |row| (serde_json::from_str(&row.json).expect("switches"), row.revision),
    );
    let next = before.patched(&serde_json::from_str(change).expect("a patch"));
    let json = serde_json::to_string(&next.expect("in range")).expect("plain data");
    let context = Context {
        actor: actor.to_owned(),
        now: house.clock.now(),
        idempotency: None,
    };
    let set = house.ledger.set_switches(json, revision, context).await;
    assert_eq!(set, Ok(revision + 1));
}

/// This node shuts the entrance, or more, and nobody hears of it.
async fn shut_unheard(house: &House, change: Value) {
    let locked = lock(house);
    house.engine.hang().await;
    house.patch(SWITCHES, change).await.is(503, 50302);
    drop(locked);
}

async fn hears_of_the_others_again(house: &House) {
    house.engine.answer_again().await;
    for _ in 0..2 {
        house.console.refresh().await.expect("the ledger answers");
    }
}

#[tokio::test]
async fn what_an_operator_opened_after_a_shut_that_nobody_heard_of_stays_open() {
    for leaves_a_copy in [false, true] {
        let house = House::new();
        shut_unheard(&house, json!({"entry_open": false, "admit_ratio": 0.5})).await;
        for change in [r#"{"entry_open":false,"read_only":true}"#, r#"{"entry_open":true}"#] {
            write(&house, "admin", change).await;
        }
        if leaves_a_copy {
            house.engine.answer_again().await;
            let row = house.ledger.switches().await.expect("read").expect("set");
            let switches = serde_json::from_str(&row.json).expect("switches");
            keep(&house, Some(copy(2, &switches))).await;
        }
        hears_of_the_others_again(&house).await;
        let stored = stored(&house).await;
        // What nobody has raised since is lowered, and what others shut stays so.
        let figures = ["entry_open", "admit_ratio", "read_only"].map(|name| stored[name].clone());
        assert_eq!(figures, [json!(true), json!(0.5), json!(true)], "{leaves_a_copy}");
        let shown = house.get(SWITCHES).await;
        let shown = shown.is(200, 0).data();
        assert_eq!(
            (&shown["entry_open"], &shown["ledger_pending"]),
            (&json!(true), &json!(false))
        );
    }
}

#[tokio::test]
async fn what_was_opened_before_a_shut_or_went_back_by_itself_is_shut_by_it() {
    let house = House::new();
    for change in [r#"{"entry_open":false}"#, r#"{"entry_open":true}"#] {
        write(&house, "admin", change).await;
    }
    house.clock.advance(1);
    shut_unheard(&house, json!({"entry_open": false})).await;
    write(&house, "admin", r#"{"entry_open":false}"#).await;
    write(&house, "expired", r#"{"entry_open":true}"#).await;
    hears_of_the_others_again(&house).await;
    assert_eq!(stored(&house).await["entry_open"], false);
    assert!(!house.gate.switches().entry_open);
}

#[tokio::test]
async fn a_shut_is_given_when_it_has_its_turn_and_not_when_it_comes() {
    let house = House::new();
    write(&house, "admin", r#"{"read_only":true}"#).await;
    let stuck = house.engine.stick().await;
    // One that waits for the store, and the shut behind it.
    let mut first = pin!(house.patch(SWITCHES, json!({"backlog_max": 300_000})));
    let mut shut = pin!(house.patch(SWITCHES, json!({"entry_open": false})));
    for _ in 0..TURNS {
        for waits in [first.as_mut(), shut.as_mut()] {
            assert!(futures_util::poll!(waits).is_pending());
        }
        tokio::task::yield_now().await;
    }
    for change in [r#"{"entry_open":false}"#, r#"{"entry_open":true}"#] {
        write(&house, "admin", change).await;
    }
    let locked = lock(&house);
    house.engine.disk.shut(false);
    first.await.is(503, 50300);
    assert_eq!(shut.await.is(200, 0).data()["ledger_pending"], true);
    stuck.await.expect("ended").expect("written");
    drop(locked);
    house.console.refresh().await.expect("the ledger answers");
    assert_eq!(stored(&house).await["entry_open"], false);
}
