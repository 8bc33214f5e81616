//! Sales from their making to their orders, as the operator's programs go through them.

use http::Method;
use seckill_sale::{ActivityId, Refusal};
use seckill_stock::Stock;
use serde_json::{Value, json};

use crate::house::{House, activity, with};

#[tokio::test]
async fn sale_is_made_preheated_sold_and_audited() {
    let house = House::new();
    let id = house.opened(3).await;
    for user in ["a", "b", "c"] {
        house.claim(id, user).await.expect("a unit is left");
    }
    assert_eq!(house.claim(id, "d").await, Err(Refusal::SoldOut));
    house.settle().await;
    let audit = house.get(&format!("/admin/api/activities/{id}/audit")).await;
    let expect = json!({
        "stock_total": 3, "stock_left": 0, "accepted": 3, "queued": 0, "succeeded": 3, "failed": 0, "dead": 0,
        "orders_live": 3, "orders_cancelled": 0, "returned": 0, "balanced": true,
    });
    assert_eq!(*audit.is(200, 0).data(), expect);
    let shown = house.get(&format!("/admin/api/activities/{id}")).await;
    assert_eq!(shown.data()["phase"], "sold_out");
    assert_eq!(shown.data()["stock_left"], 0);
}

#[tokio::test]
async fn activity_is_shown_with_all_that_is_known_of_it() {
    let house = House::new();
    let product_id = house.product().await;
    let body = with(activity(product_id, 10), "notice", json!("限时"));
    let made = house.post("/admin/api/activities", body).await;
    let id = made.is(201, 0).id();
    assert_eq!(made.header("location"), format!("/admin/api/activities/{id}"));
    let product = house.get(&format!("/admin/api/products/{product_id}")).await;
    let units = (&product.is(200, 0).data()["stock"], &product.data()["name"]);
    assert_eq!(units, (&json!(990), &json!("手机")));
    house.get("/admin/api/products/99").await.is(404, 40401);
    let expect = json!({
        "id": id, "product_id": product_id, "product_name": "手机", "title": "双十一", "price_cents": 9_900,
        "seckill_price_cents": 100, "currency": "CNY", "stock_total": 10, "stock_left": 10,
        "starts_at": "2026-11-10T23:59:59.000Z", "ends_at": "2026-11-11T01:00:00.000Z", "phase": "open", "status": "running",
        "per_user_limit": 1, "challenge": "none", "eligibility": null, "shards": 1, "version": 1, "preheated": false, "epoch": null,
        "notice": "限时", "resumes_at": null, "ledger_pending": false, "created_at": "2026-11-11T00:00:00.000Z", "warnings": [],
    });
    assert_eq!(*made.data(), expect);
    let preheated = house
        .post(&format!("/admin/api/activities/{id}/preheat"), json!({}))
        .await;
    let data = preheated.is(200, 0).data();
    assert_eq!(
        (&data["preheated"], &data["epoch"], &data["created"]),
        (&json!(true), &json!(1), &json!(true))
    );
    let again = house
        .post(&format!("/admin/api/activities/{id}/preheat"), json!({}))
        .await;
    assert_eq!(again.is(200, 0).data()["created"], false);
}

#[tokio::test]
async fn new_and_changed_activities_are_known_to_the_gate_at_once() {
    let house = House::new();
    let number = house.created(10).await;
    let id = ActivityId::new(number).expect("in range");
    assert_eq!(house.gate.catalogue().find(id).expect("known").title, "双十一");
    let path = format!("/admin/api/activities/{number}");
    let change = json!({"title": "双十二", "ends_at": "2026-11-11T02:00:00Z", "notice": "改期", "per_user_limit": 2});
    // Price, start and limit are fixed once it has begun.
    let fixed = house.patch(&path, change.clone()).await;
    assert_eq!(fixed.is(409, 40900).data()["field"], "per_user_limit");
    let change = json!({"title": "双十二", "ends_at": "2026-11-11T02:00:00Z", "notice": "改期"});
    let changed = house.patch(&path, change).await;
    assert_eq!(changed.is(200, 0).data()["ends_at"], "2026-11-11T02:00:00.000Z");
    let known = house.gate.catalogue().find(id).expect("known");
    assert_eq!(
        (known.title.as_str(), known.notice.as_deref()),
        ("双十二", Some("改期"))
    );
    let without = house.patch(&path, json!({"notice": null})).await;
    assert_eq!(without.is(200, 0).data()["notice"], Value::Null);
    house
        .patch(&path, json!({"version": 1, "title": "x"}))
        .await
        .is(409, 40900);
}

#[tokio::test]
async fn draft_stays_hidden_until_it_is_published() {
    let house = House::new();
    let body = with(activity(house.product().await, 10), "draft", json!(true));
    let made = house.post("/admin/api/activities", body).await;
    assert_eq!(made.is(201, 0).data()["status"], "draft");
    let path = format!("/admin/api/activities/{}", made.id());
    let published = house.patch(&path, json!({"publish": true})).await;
    assert_eq!(published.is(200, 0).data()["status"], "running");
}

#[tokio::test]
async fn paused_sale_gives_out_no_ticket_until_resumed() {
    let house = House::new();
    let id = house.opened(3).await;
    let of = |action: &str| format!("/admin/api/activities/{id}/{action}");
    let paused = house
        .post(&of("pause"), json!({"at": "2026-11-11T08:30:00+08:00"}))
        .await;
    assert_eq!(paused.is(200, 0).data()["resumes_at"], "2026-11-11T00:30:00.000Z");
    assert_eq!(paused.data()["phase"], "paused");
    assert!(matches!(house.claim(id, "a").await, Err(Refusal::Paused { .. })));
    let later = house.post(&of("resume"), json!({"at": "2026-11-11T00:30:00Z"})).await;
    assert_eq!(later.is(200, 0).data()["status"], "paused");
    let resumed = house.ask(Method::POST, &of("resume")).operator().send().await;
    assert_eq!(resumed.is(200, 0).data()["status"], "running");
    house.claim(id, "a").await.expect("it sells again");
    house
        .post(&of("resume"), json!({"at": "2026-11-11T00:30:00Z"}))
        .await
        .is(409, 40900);
}

#[tokio::test]
async fn closing_returns_what_is_left_and_is_final() {
    let house = House::new();
    let id = house.opened(3).await;
    house.claim(id, "a").await.expect("a unit is left");
    house.settle().await;
    let of = |action: &str| format!("/admin/api/activities/{id}/{action}");
    let closed = house.post(&of("close"), json!({})).await;
    assert_eq!(closed.is(200, 0).data()["status"], "closed");
    assert_eq!(closed.data()["phase"], "ended");
    let products = house.get("/admin/api/products").await;
    assert_eq!(products.data()["products"][0]["stock"], 999);
    house.post(&of("close"), json!({})).await.is(200, 0);
    for (action, body) in [
        ("pause", json!({})),
        ("resume", json!({})),
        ("preheat", json!({})),
        ("add-stock", json!({"quantity": 1})),
    ] {
        house.post(&of(action), body).await.is(409, 40900);
    }
    house
        .patch(&format!("/admin/api/activities/{id}"), json!({"title": "x"}))
        .await
        .is(409, 40900);
}

#[tokio::test]
async fn sale_that_has_ended_is_not_preheated() {
    let house = House::new();
    let id = house.created(3).await;
    house.clock.advance(3_600_000);
    house
        .post(&format!("/admin/api/activities/{id}/preheat"), json!({}))
        .await
        .is(409, 40900);
}

#[tokio::test]
async fn units_come_from_the_product_and_no_more_than_it_has() {
    let house = House::new();
    let product_id = house.product().await;
    let short = house.post("/admin/api/activities", activity(product_id, 1_001)).await;
    assert_eq!(
        *short.is(409, 40900).data(),
        json!({"available": 1_000, "wanted": 1_001})
    );
    let id = house
        .post("/admin/api/activities", activity(product_id, 990))
        .await
        .is(201, 0)
        .id();
    house
        .post(&format!("/admin/api/activities/{id}/preheat"), json!({}))
        .await
        .is(200, 0);
    let path = format!("/admin/api/activities/{id}/add-stock");
    house.post(&path, json!({"quantity": 11})).await.is(409, 40900);
    let added = house.post(&path, json!({"quantity": 10})).await;
    let data = added.is(200, 0).data();
    assert_eq!(
        (&data["stock_left"], &data["stock_total"]),
        (&json!(1_000), &json!(1_000))
    );
    assert_eq!(
        (&data["movement"]["kind"], &data["movement"]["units"]),
        (&json!("added"), &json!(10))
    );
    let id = ActivityId::new(id).expect("in range");
    assert_eq!(house.store.stock_left(id), Some(1_000));
}
