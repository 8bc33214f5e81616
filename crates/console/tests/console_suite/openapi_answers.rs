//! The description against answers: a night's work, each answer of which must be described to the last member.

use std::collections::BTreeSet;

use serde_json::json;

use crate::house::{activity, product};
use crate::openapi_night::Night;

const ACTIVITY: &str = "/admin/api/activities/{id}";

/// From the product to recovery.
async fn sell(night: &mut Night) {
    let product = night.post("/admin/api/products", 0, product()).await.id();
    night.get("/admin/api/products/{id}", product).await;
    let body = activity(product, 10);
    let id = night.post("/admin/api/activities", 0, body).await.id();
    night.post(&format!("{ACTIVITY}/recover"), id, json!({})).await;
    night
        .post(&format!("{ACTIVITY}/recover"), id, json!({"run": true}))
        .await;
    night.post("/admin/api/recover", 0, json!({})).await;
    night.post(&format!("{ACTIVITY}/preheat"), id, json!({})).await;
    for user in ["a", "b"] {
        night.house.claim(id, user).await.expect("a unit is left");
    }
    night.house.settle().await;
    for user in ["c", "d"] {
        night.house.claim(id, user).await.expect("a unit is left");
    }
    night.house.park_all().await;
    let letters = night.get("/admin/api/dead-letters", 0).await;
    let number = |at: usize| letters.data()["dead_letters"][at]["id"].as_u64().expect("a number");
    night
        .post("/admin/api/dead-letters/{id}/retry", number(0), json!({}))
        .await;
    let reason = json!({"reason": "bad"});
    night
        .post("/admin/api/dead-letters/{id}/discard", number(1), reason.clone())
        .await;
    night
        .post("/admin/api/dead-letters/{id}/discard", number(1), reason)
        .await;
    night.house.settle().await;
    night.get("/admin/api/orders", 0).await;
    night
        .post(&format!("{ACTIVITY}/add-stock"), id, json!({"quantity": 5}))
        .await;
    night
        .post(&format!("{ACTIVITY}/add-stock"), id, json!({"quantity": 1_000_000}))
        .await;
    night.patch(ACTIVITY, id, json!({"notice": "one each"})).await;
    night
        .post(&format!("{ACTIVITY}/pause"), id, json!({"at": "2026-11-11T00:30:00Z"}))
        .await;
    night
        .post(&format!("{ACTIVITY}/resume"), id, json!({"at": "2026-11-11T00:40:00Z"}))
        .await;
    night.post(&format!("{ACTIVITY}/resume"), id, json!({})).await;
    let connection = rusqlite::Connection::open(&night.house.database).expect("the database");
    let deleted = connection.execute("DELETE FROM orders WHERE user_id = 'b'", []);
    assert_eq!(deleted, Ok(1));
    for read in ["audit", "check", "movements"] {
        night.get(&format!("{ACTIVITY}/{read}"), id).await;
    }
    night
        .post(&format!("{ACTIVITY}/reconcile"), id, json!({"fix": true}))
        .await;
    night
        .post(&format!("{ACTIVITY}/recover"), id, json!({"run": true}))
        .await;
    choose_and_close(night, id).await;
    for list in ["products", "activities"] {
        night.get(&format!("/admin/api/{list}"), 0).await;
    }
}

/// Who may buy, and the end of the sale.
async fn choose_and_close(night: &mut Night, id: u64) {
    let eligibility = format!("{ACTIVITY}/eligibility");
    night
        .patch(ACTIVITY, id, json!({"eligibility": {"min_level": 3}}))
        .await;
    let bloom = json!({"bloom": {"bytes": "/w==", "bits": 8, "hashes": 1}});
    night.put(&eligibility, id, bloom.clone()).await;
    night.get(&eligibility, id).await;
    night.get(ACTIVITY, id).await;
    night.delete(&eligibility, id, json!({})).await;
    night.post(&format!("{ACTIVITY}/close"), id, json!({})).await;
    night.put(&eligibility, id, bloom).await.is(409, 40900);
    night.post(&format!("{ACTIVITY}/preheat"), id, json!({})).await;
    night.get(ACTIVITY, id).await;
}

/// What is set beside sales.
async fn set(night: &mut Night) {
    night
        .patch(
            "/admin/api/switches",
            0,
            json!({"admit_ratio": 0.5, "limits": {"ip": "off"}, "expires_at": "2099-01-01T00:00:00Z"}),
        )
        .await;
    for tried in [
        json!({"dry_run": true, "entry_open": false, "expires_at": "2099-01-01T00:00:00Z"}),
        json!({"revision": 0, "auto_admit": "off"}),
        json!({"auto_admit": "off"}),
    ] {
        night.patch("/admin/api/switches", 0, tried).await;
    }
    night.get("/admin/api/switches", 0).await;
    let block = json!({"kind": "ip", "value": "10.1.2.3/8", "reason": "bots"});
    let id = night.post("/admin/api/blocks", 0, block.clone()).await.id();
    night.get("/admin/api/blocks", 0).await;
    night.delete("/admin/api/blocks/{id}", id, json!({})).await;
    night.delete("/admin/api/blocks/{id}", id, json!({})).await;
    night.post("/admin/api/blocks", 0, block).await;
    night
        .delete("/admin/api/blocks", 0, json!({"kind": "ip", "value": "10.0.0.0/8"}))
        .await;
    for product in [1, 99] {
        let more = json!({"quantity": 7});
        night.post("/admin/api/products/{id}/add-stock", product, more).await;
    }
    let schedule = json!({
        "cron": "0 20 * * *", "time_zone": "Asia/Shanghai", "duration_s": 600, "product_id": 1, "title": "daily",
        "seckill_price_cents": 1, "stock": 1,
    });
    let id = night.post("/admin/api/schedules", 0, schedule).await.id();
    night.get("/admin/api/schedules", 0).await;
    night
        .patch("/admin/api/schedules/{id}", id, json!({"enabled": false}))
        .await;
    night
        .patch("/admin/api/schedules/{id}", 99, json!({"enabled": false}))
        .await;
    for read in ["audit-rows", "check"] {
        night.get(&format!("/admin/api/{read}"), 0).await;
    }
    night.get("/readyz", 0).await;
    night.house.readiness.set_ready();
    night.get("/readyz", 0).await;
}

#[tokio::test]
async fn every_answer_of_a_night_is_described_to_the_last_member() {
    let mut night = Night::new().await;
    sell(&mut night).await;
    set(&mut night).await;
    let described: BTreeSet<_> = night
        .document
        .operations()
        .into_iter()
        .map(|operation| (operation.method.to_string(), operation.route))
        .filter(|(_, route)| !["/metrics", "/admin/api/live"].contains(&route.as_str()))
        .collect();
    assert_eq!(described, night.answered, "each was answered once");
}
