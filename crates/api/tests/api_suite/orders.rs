//! A buyer's own orders.

use serde_json::json;

use crate::house::{House, OPENS};
use crate::plan::{PAY_WITHIN_MS, Plan};

/// The order of `user`, who buys now.
async fn order_of(house: &House, user: &str) -> String {
    let id = house.sale(1).await;
    house.buy(id, user).send().await.is(202, 0);
    house.settle().await;
    let result = house.result(id, user).send().await;
    result.is(200, 1).data()["order_no"]
        .as_str()
        .expect("an order")
        .to_owned()
}

#[tokio::test]
async fn an_order_shows_what_was_bought_and_until_when_to_pay() {
    let house = House::new();
    let order_no = order_of(&house, "a").await;
    let reply = house.get(format!("/api/orders/{order_no}")).user("a").send().await;
    let data = reply.is(200, 0).data();
    for (member, expect) in [
        ("order_no", json!(order_no)),
        ("quantity", json!(1)),
        ("price_cents", json!(100)),
        ("amount_cents", json!(100)),
        ("currency", json!("CNY")),
        ("state", json!("pending_payment")),
        ("created_at_ms", json!(OPENS.0)),
        ("pay_deadline_ms", json!(OPENS.0 + PAY_WITHIN_MS)),
        ("pay_deadline", json!("2023-11-14T22:28:20.000Z")),
        ("paid_at", json!(null)),
        ("refund", json!(null)),
    ] {
        assert_eq!(data[member], expect, "{member}");
    }
}

#[tokio::test]
async fn nobody_else_s_order_is_there() {
    let house = House::new();
    let order_no = order_of(&house, "a").await;
    let path = format!("/api/orders/{order_no}");
    house.get(path.clone()).send().await.is(401, 40100);
    house.get(path.clone()).user("b").send().await.is(404, 40401);
    for action in ["pay", "cancel"] {
        house
            .post(format!("{path}/{action}"))
            .user("b")
            .json("{}")
            .send()
            .await
            .is(404, 40401);
        house.post(format!("{path}/{action}")).send().await.is(401, 40100);
    }
    let list = house.get("/api/orders").user("b").send().await;
    assert_eq!(list.is(200, 0).data()["orders"], json!([]));
    for bad in ["S9-9-9", "x", "S1-1-1%00", "T1-1-1", "1"] {
        house
            .get(format!("/api/orders/{bad}"))
            .user("a")
            .send()
            .await
            .is(404, 40401);
    }
}

#[tokio::test]
async fn the_list_goes_page_by_page_newest_first() {
    let house = House::new();
    let mut orders = Vec::new();
    for _ in 0..3 {
        orders.push(order_of(&house, "a").await);
    }
    orders.reverse();
    let first = house.get("/api/orders?limit=2").user("a").send().await;
    let numbers = |reply: &crate::asking::Reply| -> Vec<String> {
        let list = reply.data()["orders"].as_array().expect("a list").clone();
        list.iter()
            .map(|order| order["order_no"].as_str().expect("a number").to_owned())
            .collect()
    };
    assert_eq!(numbers(&first), orders[..2]);
    let cursor = first.data()["next_cursor"].as_str().expect("a next page").to_owned();
    let second = house
        .get(format!("/api/orders?limit=2&cursor={cursor}"))
        .user("a")
        .send()
        .await;
    assert_eq!(numbers(&second), orders[2..]);
    assert!(second.data()["next_cursor"].is_null());
    for bad in [
        "limit=0",
        "limit=101",
        "limit=x",
        "limit=-1",
        "cursor=x",
        "sort=price",
        "activity_id=0",
        "limit=1&limit=2",
    ] {
        house
            .get(format!("/api/orders?{bad}"))
            .user("a")
            .send()
            .await
            .is(400, 40000);
    }
}

#[tokio::test]
async fn the_sandbox_pays_an_order_once() {
    let house = House::new();
    let order_no = order_of(&house, "a").await;
    let pay = || house.post(format!("/api/orders/{order_no}/pay")).user("a");
    pay().json(r#"{"amount_cents":1}"#).send().await.is(400, 40000);
    for _ in 0..2 {
        assert_eq!(pay().send().await.is(200, 0).data()["state"], "paid");
    }
    let cancel = house
        .post(format!("/api/orders/{order_no}/cancel"))
        .user("a")
        .send()
        .await;
    cancel.is(409, 40900);
}

#[tokio::test]
async fn an_order_that_was_given_up_is_not_paid_any_more() {
    let house = House::new();
    let order_no = order_of(&house, "a").await;
    let path = format!("/api/orders/{order_no}");
    for _ in 0..2 {
        let cancelled = house.post(format!("{path}/cancel")).user("a").json("{}").send().await;
        assert_eq!(cancelled.is(200, 0).data()["state"], "cancelled");
    }
    let paid = house.post(format!("{path}/pay")).user("a").send().await;
    assert_eq!(paid.is(409, 40900).data()["state"], "cancelled");
    assert!(
        paid.data()["refund"].is_null(),
        "the sandbox takes no money that must go back"
    );
}

#[tokio::test]
async fn an_order_is_not_paid_past_its_deadline() {
    let house = House::new();
    let order_no = order_of(&house, "a").await;
    house.clock.advance(PAY_WITHIN_MS);
    house
        .post(format!("/api/orders/{order_no}/pay"))
        .user("a")
        .send()
        .await
        .is(409, 40900);
}

#[tokio::test]
async fn orders_stay_as_they_are_while_the_node_is_read_only() {
    let house = House::new();
    let order_no = order_of(&house, "a").await;
    house.switch(|switches| switches.read_only = true);
    for action in ["pay", "cancel"] {
        house
            .post(format!("/api/orders/{order_no}/{action}"))
            .user("a")
            .send()
            .await
            .is(503, 40006);
    }
    house
        .get(format!("/api/orders/{order_no}"))
        .user("a")
        .send()
        .await
        .is(200, 0);
}

#[tokio::test]
async fn without_the_sandbox_a_buyer_s_word_is_no_payment() {
    let house = House::with(&Plan {
        sandbox: false,
        ..Plan::default()
    });
    let order_no = order_of(&house, "a").await;
    let pay = |user: &str| house.post(format!("/api/orders/{order_no}/pay")).user(user);
    pay("a").send().await.is(409, 40900);
    pay("b").send().await.is(404, 40401);
}
