//! Changes that end by themselves.

use serde_json::{Value, json};

use crate::house::House;
use crate::tap::{SWITCHES, lock, rows, stored};

#[tokio::test]
async fn a_switch_goes_home_at_its_moment_everywhere_and_the_ledger_hears_of_it() {
    let house = House::new();
    let change = json!({"entry_open": false, "limits": {"user": "1/s"}, "expires_at": "2026-11-11T00:00:10Z"});
    let shut = house.patch(SWITCHES, change).await;
    let returns =
        json!([{"at": "2026-11-11T00:00:10.000Z", "members": {"entry_open": true, "limits": {"user": null}}}]);
    assert_eq!(shut.is(200, 0).data()["returns"], returns);
    house.patch(SWITCHES, json!({"admit_ratio": 0.5})).await.is(200, 0);
    house.clock.advance(9_999);
    house.console.refresh().await.expect("the ledger answers");
    for gate in [house.gate.clone(), house.another_gate().await] {
        assert!(!gate.switches().entry_open);
    }
    house.clock.advance(1);
    // By the clock alone: nobody has told it.
    let shown = house.get(SWITCHES).await;
    let shown = shown.is(200, 0).data();
    assert_eq!(
        (&shown["entry_open"], &shown["admit_ratio"], &shown["returns"]),
        (&json!(true), &json!(0.5), &json!([]))
    );
    assert_eq!(stored(&house).await["entry_open"], false);
    house.console.refresh().await.expect("the ledger answers");
    let after_a_restart = house.another_gate().await;
    assert!(after_a_restart.switches().entry_open);
    let stored = stored(&house).await;
    assert_eq!(
        (&stored["entry_open"], &stored["limits"]["user"], &stored["returns"]),
        (&json!(true), &Value::Null, &Value::Null)
    );
    house.console.refresh().await.expect("the ledger answers");
    let rows = rows(&house).await;
    assert_eq!(rows[0], ("expired".to_owned(), "switches.set".to_owned()));
    assert_eq!(rows.len(), 3, "{rows:?}");
}

#[tokio::test]
async fn a_later_patch_of_a_member_cancels_its_return() {
    let house = House::new();
    let soon = "2026-11-11T00:00:10Z";
    let both = json!({"entry_open": false, "admit_ratio": 0.5, "expires_at": soon});
    house.patch(SWITCHES, both).await.is(200, 0);
    let stays = house.patch(SWITCHES, json!({"entry_open": false})).await;
    assert_eq!(stays.data()["returns"][0]["members"], json!({"admit_ratio": 1.0}));
    house.clock.advance(10_000);
    let shown = house.get(SWITCHES).await;
    assert_eq!(
        (&shown.data()["entry_open"], &shown.data()["admit_ratio"]),
        (&json!(false), &json!(1.0))
    );
}

#[tokio::test]
async fn a_brake_that_expires_needs_no_database_and_goes_home_without_one_too() {
    let house = House::new();
    let locked = lock(&house);
    let change = json!({"entry_open": false, "expires_at": "2026-11-11T00:00:10Z"});
    let shut = house.patch(SWITCHES, change).await;
    assert_eq!(shut.is(200, 0).data()["ledger_pending"], true);
    assert!(
        !house.another_gate().await.switches().entry_open,
        "a restart before the ledger is back"
    );
    house.clock.advance(10_000);
    assert_eq!(house.get(SWITCHES).await.data()["entry_open"], true);
    assert!(house.another_gate().await.switches().entry_open);
    drop(locked);
    for _ in 0..2 {
        house.console.refresh().await.expect("the ledger answers");
    }
    assert_eq!(stored(&house).await["entry_open"], true);
    let actors: Vec<_> = rows(&house).await.into_iter().map(|(actor, _)| actor).collect();
    assert_eq!(actors, ["expired", "admin"]);
}

#[tokio::test]
async fn a_change_that_ends_in_the_past_or_has_nothing_to_end_is_refused() {
    let house = House::new();
    for (change, field) in [
        (
            json!({"entry_open": false, "expires_at": "2026-11-11T00:00:00Z"}),
            "expires_at",
        ),
        (json!({"entry_open": false, "expires_at": "soon"}), "expires_at"),
        (json!({"expires_at": "2026-11-11T00:00:10Z"}), "expires_at"),
        (json!({"backlog_max": 10, "backlog_resume": 11}), "backlog_resume"),
        (json!({"backlog_oldest_max_s": 86_401}), "backlog_oldest_max_s"),
        (json!({"auto_admit": {"store_p99_ms": 0}}), "auto_admit"),
    ] {
        let refused = house.patch(SWITCHES, change).await;
        assert_eq!(refused.is(400, 40000).data()["field"], field);
    }
    assert_eq!(rows(&house).await, []);
}
