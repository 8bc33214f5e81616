//! The emergency brake over HTTP: what stops buyers works while nobody can write to the database, and reaches it later.

use futures_util::FutureExt;
use seckill_gate::Gate;
use seckill_ledger::{Catalog, Operations};
use seckill_sale::{ActivityId, Refusal, Status};
use serde_json::{Value, json};

use crate::house::House;

/// Lets nobody else write to the database until it is dropped.
fn lock(house: &House) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(&house.database).expect("the database");
    connection.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    connection
}

fn is_shut(gate: &Gate) -> bool {
    !gate.switches().entry_open
}

/// What the ledger keeps of the switches; null where they were never set.
async fn stored(house: &House) -> Value {
    let stored = house.ledger.switches().await.expect("read");
    stored.map_or(Value::Null, |stored| serde_json::from_str(&stored.json).expect("JSON"))
}

#[tokio::test]
async fn a_pause_is_answered_as_paused_while_the_database_is_locked() {
    let house = House::new();
    let id = house.opened(5).await;
    let path = format!("/admin/api/activities/{id}");
    let locked = lock(&house);
    let paused = house
        .post(&format!("{path}/pause"), json!({"at": "2026-11-11T01:00:00Z"}))
        .await;
    let paused = paused.is(200, 0).data();
    assert_eq!(
        (&paused["status"], &paused["phase"]),
        (&json!("paused"), &json!("paused"))
    );
    assert_eq!(paused["ledger_pending"], true);
    assert!(matches!(house.claim(id, "a").await, Err(Refusal::Paused { .. })));
    let shown = house.get(&path).await;
    assert_eq!(shown.is(200, 0).data()["status"], "paused");
    house.post(&format!("{path}/resume"), json!({})).await.is(503, 50300);
    drop(locked);
    let again = house.post(&format!("{path}/pause"), json!({})).await;
    let again = again.is(200, 0).data();
    assert_eq!(
        (&again["ledger_pending"], &again["resumes_at"]),
        (&json!(false), &Value::Null)
    );
    let row = house.ledger.activity(ActivityId::new(id).expect("in range")).await;
    assert_eq!(row.expect("read").status, Status::Paused);
    house.post(&format!("{path}/resume"), json!({})).await.is(200, 0);
    house.claim(id, "a").await.expect("it sells again");
}

#[tokio::test]
async fn commands_that_wait_for_a_locked_database_take_no_place_from_the_brake() {
    let house = House::new();
    let id = house.opened(5).await;
    let locked = lock(&house);
    // As many as there may be, each of a client that hangs up.
    for _ in 0..64 {
        let asked = house.post("/admin/api/products", crate::house::product());
        assert!(asked.now_or_never().is_none(), "it waits");
    }
    let refused = house.post("/admin/api/products", crate::house::product()).await;
    assert!(refused.is(503, 50300).text.contains("too many commands"));
    house
        .post(&format!("/admin/api/activities/{id}/pause"), json!({}))
        .await
        .is(200, 0);
    house
        .patch("/admin/api/switches", json!({"entry_open": false}))
        .await
        .is(200, 0);
    assert!(is_shut(&house.gate));
    drop(locked);
}

#[tokio::test]
async fn switches_shut_the_entrance_while_the_database_is_locked_and_after_a_restart() {
    let house = House::new();
    let locked = lock(&house);
    let shut = house.patch("/admin/api/switches", json!({"entry_open": false})).await;
    assert_eq!(shut.is(200, 0).data()["ledger_pending"], true);
    assert!(is_shut(&house.gate));
    house.console.refresh().await.expect("the ledger can be read");
    assert!(is_shut(&house.gate), "what the ledger says does not open it");
    let more = house.patch("/admin/api/switches", json!({"read_only": true})).await;
    assert_eq!(more.is(200, 0).data()["entry_open"], false);
    for opens in [
        json!({"entry_open": true, "read_only": false}),
        json!({"entry_open": true, "admit_ratio": 0.5, "read_only": false}),
    ] {
        house.patch("/admin/api/switches", opens).await.is(503, 50300);
    }
    assert!(
        is_shut(&*house.another_gate().await),
        "a restart before the ledger is back"
    );
    drop(locked);
    assert_eq!(stored(&house).await, Value::Null);
    let after_a_restart = house.another_gate().await;
    assert!(is_shut(&after_a_restart) && after_a_restart.switches().read_only);
    let stored = stored(&house).await;
    assert_eq!(
        (&stored["entry_open"], &stored["read_only"]),
        (&json!(false), &json!(true))
    );
    let open = house
        .patch("/admin/api/switches", json!({"entry_open": true, "read_only": false}))
        .await;
    assert_eq!(open.is(200, 0).data()["ledger_pending"], false);
    assert!(!is_shut(&house.gate));
}

#[tokio::test]
async fn a_lower_share_holds_without_the_database_and_a_wrong_one_changes_nothing() {
    let house = House::new();
    let locked = lock(&house);
    let lower = house.patch("/admin/api/switches", json!({"admit_ratio": 0.25})).await;
    assert_eq!(lower.is(200, 0).data()["ledger_pending"], true);
    house
        .patch("/admin/api/switches", json!({"admit_ratio": -1}))
        .await
        .is(400, 40000);
    house
        .patch("/admin/api/switches", json!({"admit_ratio": 0.5}))
        .await
        .is(503, 50300);
    assert_eq!(house.gate.switches().admit_ratio, 0.25);
    drop(locked);
    house.console.refresh().await.expect("the ledger answers");
    assert_eq!(stored(&house).await["admit_ratio"], 0.25);
    let higher = house.patch("/admin/api/switches", json!({"admit_ratio": 0.5})).await;
    assert_eq!(higher.is(200, 0).data()["admit_ratio"], 0.5);
}
