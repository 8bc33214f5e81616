//! The operator's API while the store's disk does not answer, and what tightens while others wait.

use std::pin::pin;

use seckill_gate::Gate;
use seckill_ledger::Catalog;
use seckill_sale::{ActivityId, Phase, Status};
use serde_json::json;

use crate::house::House;

/// More turns of the runtime than it takes until everything waits.
pub(crate) const TURNS: usize = 50;

pub(crate) fn is_shut(gate: &Gate) -> bool {
    !gate.switches().entry_open
}

fn lock(house: &House) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(&house.database).expect("the database");
    connection.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    connection
}

#[tokio::test]
async fn the_ledger_alone_shuts_the_entrance_while_the_store_hangs_and_opening_waits_for_both() {
    let house = House::new();
    house.engine.hang().await;
    let shut = house.patch("/admin/api/switches", json!({"entry_open": false})).await;
    assert_eq!(shut.is(200, 0).data()["ledger_pending"], false);
    assert!(is_shut(&house.gate));
    assert!(
        is_shut(&*house.another_gate().await),
        "a restart before the disk is back"
    );
    let open = json!({"entry_open": true});
    house.patch("/admin/api/switches", open.clone()).await.is(503, 50300);
    house.console.refresh().await.expect("the ledger can be read");
    assert!(is_shut(&house.gate));
    house.engine.answer_again().await;
    house.patch("/admin/api/switches", open).await.is(200, 0);
    house.console.refresh().await.expect("the ledger can be read");
    assert!(!is_shut(&house.gate));
    assert!(!is_shut(&*house.another_gate().await), "nothing is kept that shuts it");
}

#[tokio::test]
async fn a_shut_that_nobody_keeps_is_in_force_and_told_again_until_somebody_does() {
    let house = House::new();
    house.engine.hang().await;
    let locked = lock(&house);
    for _ in 0..2 {
        let shut = house.patch("/admin/api/switches", json!({"entry_open": false})).await;
        shut.is(503, 50302);
        assert!(is_shut(&house.gate));
        house.console.refresh().await.expect("the ledger can be read");
    }
    let shown = house.get("/admin/api/switches").await;
    let shown = shown.is(200, 0).data();
    assert_eq!(
        (&shown["entry_open"], &shown["ledger_pending"]),
        (&json!(false), &json!(true))
    );
    house.engine.answer_again().await;
    house.console.refresh().await.expect("the ledger can be read");
    assert!(
        is_shut(&*house.another_gate().await),
        "a restart before the ledger is back: the store has it"
    );
    drop(locked);
    house.console.refresh().await.expect("the ledger answers");
    let shown = house.get("/admin/api/switches").await;
    assert_eq!(shown.is(200, 0).data()["ledger_pending"], false);
    assert!(is_shut(&*house.another_gate().await));
}

#[tokio::test]
async fn opening_leaves_nothing_behind_of_a_shut_that_the_ledger_had_not_got() {
    let house = House::new();
    let locked = lock(&house);
    let shut = house.patch("/admin/api/switches", json!({"entry_open": false})).await;
    assert_eq!(shut.is(200, 0).data()["ledger_pending"], true);
    drop(locked);
    let open = house.patch("/admin/api/switches", json!({"entry_open": true})).await;
    assert_eq!(open.is(200, 0).data()["ledger_pending"], false);
    assert!(!is_shut(&*house.another_gate().await));
    house.console.refresh().await.expect("the ledger answers");
    assert!(!is_shut(&house.gate));
}

#[tokio::test]
async fn commands_are_answered_while_the_store_hangs_and_work_when_it_is_back() {
    let house = House::new();
    let id = house.opened(5).await;
    let path = format!("/admin/api/activities/{id}");
    house.engine.hang().await;
    house.get(&format!("{path}/audit")).await.is(503, 50300);
    house.post(&format!("{path}/pause"), json!({})).await.is(503, 50302);
    let activity = ActivityId::new(id).expect("in range");
    let row = house.ledger.activity(activity).await.expect("read");
    assert_eq!(row.status, Status::Paused, "a restart does not sell");
    let shown = house.gate.catalogue().find(activity).expect("known");
    assert_eq!(shown.phase(crate::house::NOW, Some(5)), Phase::Paused);
    house.post(&format!("{path}/resume"), json!({})).await.is(503, 50302);
    house.post(&format!("{path}/reconcile"), json!({})).await.is(503, 50300);
    house.post(&format!("{path}/close"), json!({})).await.is(503, 50302);
    let other = house.created(5).await;
    let preheat = format!("/admin/api/activities/{other}/preheat");
    house.post(&preheat, json!({})).await.is(503, 50300);
    house.engine.answer_again().await;
    house.post(&preheat, json!({})).await.is(200, 0);
    let audited = house.get(&format!("{path}/audit")).await;
    assert_eq!(audited.is(200, 0).data()["balanced"], true);
}

#[tokio::test]
async fn what_tightens_is_in_force_while_others_have_their_turn_and_what_loosens_is_not() {
    let house = House::new();
    let patch = |change| house.patch("/admin/api/switches", change);
    patch(json!({"admit_ratio": 0.5})).await.is(200, 0);
    // The first one needs the store, which does not answer and knows of no bound here; whoever comes later waits for him.
    let stuck = house.engine.stick().await;
    let mut first = pin!(patch(json!({"admit_ratio": 0.9, "backlog_max": 300_000})));
    let mut tightens = pin!(patch(
        json!({"admit_ratio": 0.2, "backlog_max": 100, "challenge": "token"})
    ));
    for _ in 0..TURNS {
        for waits in [first.as_mut(), tightens.as_mut()] {
            assert!(futures_util::poll!(waits).is_pending());
        }
        tokio::task::yield_now().await;
    }
    let in_force = || {
        let switches = house.gate.switches();
        (switches.admit_ratio, switches.backlog_max)
    };
    assert_eq!(in_force(), (0.2, 100));
    house.engine.disk.shut(false);
    first.await.is(200, 0);
    assert_eq!(in_force(), (0.2, 100), "carried out, it lifts nothing that waits");
    tightens.await.is(200, 0);
    assert_eq!(in_force(), (0.2, 100));
    stuck.await.expect("ended").expect("written");
}
