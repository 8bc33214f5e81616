//! The operator's books: every write leaves a row that says who, what, before and after.

use http::Method;
use serde_json::{Value, json};

use crate::house::{House, activity, product};

/// All actions in their order.
async fn actions(house: &House) -> Vec<String> {
    let mut actions = house.actions().await;
    actions.reverse();
    actions
}

#[tokio::test]
async fn every_write_on_sales_leaves_an_audit_row() {
    let house = House::new();
    let product_id = house.post("/admin/api/products", product()).await.is(201, 0).id();
    let id = house
        .post("/admin/api/activities", activity(product_id, 10))
        .await
        .is(201, 0)
        .id();
    house
        .patch(&format!("/admin/api/activities/{id}"), json!({"title": "x"}))
        .await
        .is(200, 0);
    for (action, body) in [
        ("preheat", json!({})),
        ("pause", json!({})),
        ("resume", json!({})),
        ("add-stock", json!({"quantity": 1})),
        ("reconcile", json!({"fix": true})),
        ("recover", json!({"run": true})),
        ("close", json!({})),
    ] {
        house
            .post(&format!("/admin/api/activities/{id}/{action}"), body)
            .await
            .is(200, 0);
    }
    let expect = [
        "product.create",
        "activity.create",
        "activity.patch",
        "activity.open",
        "activity.pause",
        "activity.resume",
        "activity.add_stock",
        "activity.reconcile",
        "activity.recover",
        "activity.close",
        "activity.return_unsold",
    ];
    assert_eq!(actions(&house).await, expect);
}

#[tokio::test]
async fn every_other_write_leaves_an_audit_row() {
    let house = House::new();
    let id = house.opened(10).await;
    for user in ["a", "b"] {
        house.claim(id, user).await.expect("a unit is left");
    }
    house.park_all().await;
    let before = actions(&house).await.len();
    house
        .patch("/admin/api/switches", json!({"entry_open": false}))
        .await
        .is(200, 0);
    let block = house
        .post("/admin/api/blocks", json!({"kind": "user", "value": "m"}))
        .await
        .is(201, 0)
        .id();
    house
        .ask(Method::DELETE, &format!("/admin/api/blocks/{block}"))
        .operator()
        .send()
        .await
        .is(200, 0);
    let schedule = json!({
        "cron": "0 20 * * *", "time_zone": "UTC", "duration_s": 60, "product_id": 1, "title": "t",
        "seckill_price_cents": 1, "stock": 1,
    });
    let schedule = house.post("/admin/api/schedules", schedule).await.is(201, 0).id();
    house
        .patch(&format!("/admin/api/schedules/{schedule}"), json!({"enabled": false}))
        .await
        .is(200, 0);
    house
        .post("/admin/api/dead-letters/1/retry", json!({}))
        .await
        .is(200, 0);
    house
        .post("/admin/api/dead-letters/2/discard", json!({"reason": "r"}))
        .await
        .is(200, 0);
    let expect = [
        "switches.set",
        "block.add",
        "block.remove",
        "schedule.create",
        "schedule.set_enabled",
        "dead_letter.retry",
        "dead_letter.discard",
    ];
    assert_eq!(actions(&house).await[before..], expect);
}

#[tokio::test]
async fn audit_row_says_who_what_before_and_after() {
    let house = House::new();
    let id = house.created(10).await;
    house
        .post(&format!("/admin/api/activities/{id}/pause"), json!({}))
        .await
        .is(200, 0);
    let reply = house.get("/admin/api/audit-rows?limit=1").await;
    let row = &reply.is(200, 0).data()["audit_rows"][0];
    assert_eq!(
        (&row["actor"], &row["action"]),
        (&json!("admin"), &json!("activity.pause"))
    );
    assert_eq!(
        (&row["subject"], &row["at"]),
        (&json!(format!("activity {id}")), &json!("2026-11-11T00:00:00.000Z"))
    );
    assert_eq!(
        (&row["before"]["status"], &row["after"]["status"]),
        (&json!("running"), &json!("paused"))
    );
    let first = house.get(&format!("/admin/api/audit-rows?cursor={}", row["id"])).await;
    let rows = first.data()["audit_rows"].as_array().expect("rows").clone();
    assert_eq!(
        rows.iter().map(|row| row["before"].clone()).collect::<Vec<_>>(),
        [Value::Null, Value::Null]
    );
}

#[tokio::test]
async fn movements_are_listed_in_their_order() {
    let house = House::new();
    let id = house.opened(3).await;
    house.claim(id, "a").await.expect("a unit is left");
    house.settle().await;
    house
        .post(&format!("/admin/api/activities/{id}/add-stock"), json!({"quantity": 2}))
        .await
        .is(200, 0);
    let reply = house.get(&format!("/admin/api/activities/{id}/movements")).await;
    let rows = reply.is(200, 0).data()["movements"].as_array().expect("rows").clone();
    let kinds: Vec<_> = rows
        .iter()
        .map(|row| (row["kind"].as_str().expect("a word"), row["units"].as_u64()))
        .collect();
    assert_eq!(kinds, [("created", Some(3)), ("settled", Some(1)), ("added", Some(2))]);
}
