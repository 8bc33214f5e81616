//! The night of a sale: switches take effect on this node before the answer, and are found by other nodes and after a restart.

use futures_util::FutureExt;
use http::Method;
use seckill_sale::{ActivityId, Challenge, Refusal, Status};
use serde_json::{Value, json};

use crate::house::House;

#[tokio::test]
async fn patch_of_the_switches_changes_only_what_it_names() {
    let house = House::new();
    let first = house.get("/admin/api/switches").await;
    let expect = json!({
        "entry_open": true, "admit_ratio": 1.0, "read_only": false, "backlog_max": 200_000, "challenge": null,
        "limits": {"ip": null, "network": null, "user": null, "device": null, "activity": null, "node": null},
        "revision": 0, "ledger_pending": false,
        "limits_in_force": {
            "ip": "50/s burst 100", "network": "off", "user": "off", "device": "off", "read": "off",
            "activity": "off", "node": "off",
        },
        "backlog_resume": 160_000, "backlog_resume_derived": true, "backlog_oldest_max_s": 300, "backlog_holds_back": false, "backlog_sales": [], "returns": [],
        "auto_admit": {"store_p99_ms": 250, "step": 0.2}, "auto_admit_ratio": 1.0, "auto_admit_sales": {},
    });
    assert_eq!(*first.is(200, 0).data(), expect);
    let change = json!({"admit_ratio": 0.5, "challenge": "token", "limits": {"ip": "off", "user": "1/s burst 3"}});
    let changed = house.patch("/admin/api/switches", change).await;
    assert_eq!(
        changed.is(200, 0).data()["limits"],
        json!({"ip": "off", "network": null, "user": "1/s burst 3", "device": null, "activity": null, "node": null})
    );
    let shut = house.patch("/admin/api/switches", json!({"entry_open": false})).await;
    assert_eq!(
        (&shut.data()["admit_ratio"], &shut.data()["revision"]),
        (&json!(0.5), &json!(2))
    );
    let back = house
        .patch(
            "/admin/api/switches",
            json!({"challenge": null, "limits": {"ip": null}}),
        )
        .await;
    assert_eq!(back.is(200, 0).data()["limits_in_force"]["ip"], "50/s burst 100");
    let none = house.patch("/admin/api/switches", json!({})).await;
    assert_eq!(none.is(200, 0).data()["admit_ratio"], 0.5);
}

#[tokio::test]
async fn switches_are_in_force_before_the_answer_and_after_a_restart() {
    let house = House::new();
    let change =
        json!({"entry_open": false, "admit_ratio": 0.25, "read_only": true, "challenge": "token", "backlog_max": 9});
    house.patch("/admin/api/switches", change).await.is(200, 0);
    for gate in [house.gate.clone(), house.another_gate().await] {
        let switches = gate.switches();
        assert!(!switches.entry_open && switches.read_only);
        assert_eq!((switches.admit_ratio, switches.backlog_max), (0.25, 9));
        assert_eq!(switches.challenge, Some(Challenge::Token));
    }
}

#[tokio::test]
async fn backlog_switch_reaches_the_store() {
    let house = House::new();
    let id = house.opened(10).await;
    house
        .patch("/admin/api/switches", json!({"backlog_max": 1}))
        .await
        .is(200, 0);
    house.claim(id, "a").await.expect("room for one");
    assert_eq!(house.claim(id, "b").await, Err(Refusal::BacklogFull));
}

#[tokio::test]
async fn dead_letters_are_retried_or_discarded_once() {
    let house = House::new();
    let id = house.opened(3).await;
    for user in ["a", "b"] {
        house.claim(id, user).await.expect("a unit is left");
    }
    house.park_all().await;
    let list = house.get("/admin/api/dead-letters").await;
    let letters = list.is(200, 0).data()["dead_letters"]
        .as_array()
        .expect("letters")
        .clone();
    assert_eq!(letters.len(), 2);
    assert_eq!(
        (&letters[0]["state"], &letters[0]["reason"]),
        (&json!("parked"), &json!("bad row"))
    );
    let of = |letter: &Value, action: &str| format!("/admin/api/dead-letters/{}/{action}", letter["id"]);
    house.post(&of(&letters[0], "discard"), json!({})).await.is(400, 40000);
    let retried = house.post(&of(&letters[0], "retry"), json!({})).await;
    assert_eq!(retried.is(200, 0).data()["state"], "retried");
    let discarded = house
        .post(&of(&letters[1], "discard"), json!({"reason": "a test row"}))
        .await;
    assert_eq!(discarded.is(200, 0).data()["discard_reason"], "a test row");
    house
        .post(&of(&letters[0], "discard"), json!({"reason": "x"}))
        .await
        .is(409, 40900);
    house.post(&of(&letters[1], "retry"), json!({})).await.is(409, 40900);
    house.settle().await;
    let audit = house.get(&format!("/admin/api/activities/{id}/audit")).await;
    let data = audit.data();
    assert_eq!(
        (&data["succeeded"], &data["failed"], &data["stock_left"]),
        (&json!(1), &json!(1), &json!(2))
    );
    assert_eq!(data["balanced"], true);
}

#[tokio::test]
async fn command_is_finished_also_where_its_client_hangs_up() {
    let house = House::new();
    let id = house.opened(1_000).await;
    let path = format!("/admin/api/activities/{id}/pause");
    let mut pause = Box::pin(house.ask(Method::POST, &path).operator().send());
    // It waits for the store's thread by now.
    assert!((&mut pause).now_or_never().is_none());
    drop(pause);
    // The gate comes last, and only the command itself tells it: no scheduler runs here. Each claim lets the command go on.
    let id_at_gate = ActivityId::new(id).expect("in range");
    for n in 0..1_000 {
        let _ = house.claim(id, &n.to_string()).await;
        if house.gate.catalogue().find(id_at_gate).expect("known").status == Status::Paused {
            return;
        }
    }
    panic!("the gate does not know of the pause");
}
