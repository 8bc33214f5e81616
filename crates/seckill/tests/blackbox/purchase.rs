//! One purchase after the other: what the buyer hears, and what stays unchanged when he is refused.

use seckill_testkit::{Server, call};
use serde_json::json;

use crate::program;

#[test]
fn units_are_sold_exactly_and_every_loser_hears_sold_out() {
    let server = Server::start(&program());
    let activity = server.sale(20, &json!({}));
    for number in 0..50 {
        let answer = server.buy(activity, &format!("u{number}"), "k").expect("answers");
        let wanted = if number < 20 { (202, 0) } else { (410, 40005) };
        assert_eq!((answer.status, answer.code()), wanted, "{answer:?}");
    }
    let audit = server.settled(activity);
    assert_eq!(
        (
            audit["orders_live"].as_u64(),
            audit["stock_left"].as_u64(),
            &audit["balanced"]
        ),
        (Some(20), Some(0), &json!(true))
    );
}

#[test]
fn the_same_key_with_another_quantity_is_422_and_changes_nothing() {
    let server = Server::start(&program());
    let activity = server.sale(20, &json!({"per_user_limit": 3}));
    let path = format!("/api/seckill/{activity}");
    let key = [
        "Idempotency-Key: one".to_owned(),
        format!("Authorization: Bearer {}", server.token("a")),
    ];
    let buy = |body| call(server.public, "POST", &path, &key, Some(body)).expect("answers");
    assert_eq!(buy(r#"{"quantity":2}"#).status, 202);
    assert_eq!(
        (buy(r#"{"quantity":1}"#).status, buy(r#"{"quantity":1}"#).code()),
        (422, 42200)
    );
    assert_eq!(buy(r#"{"quantity":2}"#).header("Idempotency-Replayed"), "true");
    assert_eq!(server.settled(activity)["orders_live"], 2);
}

#[test]
fn a_buyer_cannot_see_or_touch_the_order_of_another() {
    let server = Server::start(&program());
    let activity = server.sale(20, &json!({}));
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    let _ = server.settled(activity);
    let orders = server.as_user("a", "GET", "/api/orders", None).expect("answers");
    let order_no = orders.data()["orders"][0]["order_no"]
        .as_str()
        .expect("an order")
        .to_owned();
    for (method, path) in [
        ("GET", format!("/api/orders/{order_no}")),
        ("POST", format!("/api/orders/{order_no}/pay")),
        ("POST", format!("/api/orders/{order_no}/cancel")),
    ] {
        let answer = server.as_user("b", method, &path, None).expect("answers");
        assert_eq!((answer.status, answer.code()), (404, 40401), "{method} {path}");
    }
    assert_eq!(
        server
            .as_user("a", "POST", &format!("/api/orders/{order_no}/pay"), None)
            .expect("answers")
            .status,
        200
    );
}

#[test]
fn switches_survive_a_crash_and_hold_at_once() {
    let mut server = Server::start(&program());
    let activity = server.sale(20, &json!({}));
    let shut = server.as_admin("PATCH", "/admin/api/switches", Some(&json!({"entry_open": false})));
    assert_eq!(shut.status, 200, "{shut:?}");
    assert_eq!(server.buy(activity, "a", "k").expect("answers").code(), 40006);
    server.kill();
    server.start_again();
    assert_eq!(server.buy(activity, "a", "k").expect("answers").code(), 40006);
    let open = server.as_admin("PATCH", "/admin/api/switches", Some(&json!({"entry_open": true})));
    assert_eq!(open.status, 200, "{open:?}");
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
}

#[test]
fn a_sale_that_was_not_preheated_by_hand_is_preheated_by_the_scheduler() {
    let server = Server::start(&program());
    let product = json!({"name": "thing", "price_cents": 1, "currency": "CNY", "stock": 5});
    let product = server.as_admin("POST", "/admin/api/products", Some(&product));
    let activity = json!({
        "product_id": product.data()["id"], "title": "sale", "seckill_price_cents": 1, "stock": 5,
        "starts_at": "2020-01-01T00:00:00Z", "ends_at": "2099-01-01T00:00:00Z",
    });
    let created = server.as_admin("POST", "/admin/api/activities", Some(&activity));
    let id = created.data()["id"].as_u64().expect("an id");
    loop {
        let answer = server.buy(id, "a", "k").expect("answers");
        if answer.status == 202 {
            break;
        }
        assert_eq!(
            (answer.code(), answer.data()["reason"].as_str()),
            (50303, Some("not_ready")),
            "{answer:?}"
        );
        assert_ne!(answer.header("Retry-After"), "");
    }
}
