//! The same key again is the same write; another request under it is refused.

use http::Method;
use serde_json::{Value, json};

use crate::house::{House, activity, product, with};
use crate::request::Reply;

async fn keyed(house: &House, method: Method, path: &str, key: &str, body: &Value) -> Reply {
    house
        .ask(method, path)
        .operator()
        .header("idempotency-key", key)
        .json(body)
        .send()
        .await
}

#[tokio::test]
async fn same_key_and_body_make_one_row() {
    let house = House::new();
    let ask = |body: Value| {
        let house = &house;
        async move { keyed(house, Method::POST, "/admin/api/products", "k-1", &body).await }
    };
    let first = ask(product()).await;
    let id = first.is(201, 0).id();
    assert!(!first.is_replayed());
    let again = ask(product()).await;
    assert_eq!(again.is(201, 0).id(), id);
    assert!(again.is_replayed());
    let other = ask(with(product(), "stock", json!(7))).await;
    assert!(!other.is(422, 42200).is_replayed());
    keyed(&house, Method::POST, "/admin/api/activities", "k-1", &activity(id, 1))
        .await
        .is(422, 42200);
    assert_eq!(house.actions().await, ["product.create"]);
}

#[tokio::test]
async fn units_are_added_once_by_one_key() {
    let house = House::new();
    let id = house.opened(10).await;
    let path = format!("/admin/api/activities/{id}/add-stock");
    for replayed in [false, true, true] {
        let reply = keyed(&house, Method::POST, &path, "k", &json!({"quantity": 5})).await;
        assert_eq!(reply.is(200, 0).data()["stock_left"], 15);
        assert_eq!(reply.is_replayed(), replayed);
    }
    keyed(&house, Method::POST, &path, "k", &json!({"quantity": 6}))
        .await
        .is(422, 42200);
    let other = house.opened(10).await;
    let path = format!("/admin/api/activities/{other}/add-stock");
    keyed(&house, Method::POST, &path, "k", &json!({"quantity": 5}))
        .await
        .is(422, 42200);
}

#[tokio::test]
async fn late_repetition_of_a_switch_does_not_undo_what_came_after() {
    let house = House::new();
    let shut = json!({"entry_open": false});
    keyed(&house, Method::PATCH, "/admin/api/switches", "k", &shut)
        .await
        .is(200, 0);
    house
        .patch("/admin/api/switches", json!({"entry_open": true}))
        .await
        .is(200, 0);
    let late = keyed(&house, Method::PATCH, "/admin/api/switches", "k", &shut).await;
    assert_eq!(
        (&late.is(200, 0).data()["entry_open"], &late.data()["revision"]),
        (&json!(true), &json!(2))
    );
    assert!(late.is_replayed());
    assert!(house.gate.switches().entry_open);
    let other = json!({"read_only": true});
    keyed(&house, Method::PATCH, "/admin/api/switches", "k", &other)
        .await
        .is(422, 42200);
}

#[tokio::test]
async fn late_repetition_of_a_pause_does_not_pause_again() {
    let house = House::new();
    let id = house.opened(10).await;
    let of = |action: &str| format!("/admin/api/activities/{id}/{action}");
    keyed(&house, Method::POST, &of("pause"), "k", &json!({}))
        .await
        .is(200, 0);
    house.post(&of("resume"), json!({})).await.is(200, 0);
    let late = keyed(&house, Method::POST, &of("pause"), "k", &json!({})).await;
    assert_eq!(late.is(200, 0).data()["status"], "running");
    assert!(late.is_replayed());
    assert!(house.claim(id, "a").await.is_ok(), "nothing is held");
}

#[tokio::test]
async fn ill_formed_keys_are_refused() {
    let house = House::new();
    for key in ["", "a b", &"x".repeat(65)] {
        let reply = keyed(&house, Method::POST, "/admin/api/products", key, &product()).await;
        assert_eq!(reply.is(400, 40000).data()["field"], "Idempotency-Key");
    }
    let twice = house.ask(Method::POST, "/admin/api/products").operator();
    let twice = twice
        .header("idempotency-key", "a")
        .header("idempotency-key", "b")
        .json(&product());
    twice.send().await.is(400, 40000);
    assert_eq!(house.actions().await, [""; 0]);
}
