//! Bad input about products and sales.

use http::Method;
use serde_json::{Value, json};

use crate::house::{House, activity, product, with};
use crate::input::{all_refused, numbers, texts};

#[tokio::test]
async fn products_are_read_strictly() {
    let house = House::new();
    let mut bad = texts(&product(), "name");
    bad.extend(numbers(&product(), "price_cents"));
    bad.extend(numbers(&product(), "stock"));
    bad.push((with(product(), "stock", json!(0)), "stock"));
    bad.push((with(product(), "stock", json!(1_000_000_001)), "stock"));
    bad.push((with(product(), "price_cents", json!(9_000_000_001_u64)), "price_cents"));
    for currency in ["cny", "", "CNYX", "元", "C1Y"] {
        bad.push((with(product(), "currency", json!(currency)), "currency"));
    }
    bad.push((with(product(), "id", json!(7)), "id"));
    bad.push((json!({"name": "a"}), "price_cents"));
    all_refused(&house, Method::POST, "/admin/api/products", bad).await;
}

#[tokio::test]
async fn activities_are_read_strictly() {
    let house = House::new();
    let base = activity(house.product().await, 10);
    let mut bad = texts(&base, "title");
    for member in ["product_id", "seckill_price_cents", "stock", "per_user_limit", "shards"] {
        bad.extend(numbers(&base, member));
    }
    for (member, value) in [
        ("product_id", json!(0)),
        ("stock", json!(0)),
        ("stock", json!(1_000_000_001)),
        ("per_user_limit", json!(0)),
        ("per_user_limit", json!(11)),
        ("shards", json!(0)),
        ("shards", json!(2)),
        ("shards", json!(1_000_000)),
        ("challenge", json!("riddle")),
        ("challenge", json!(null)),
        ("draft", json!(1)),
        ("notice", json!("")),
        ("notice", json!("a\u{7}")),
        ("notice", json!("x".repeat(501))),
        ("starts_at", json!("2026-11-11T00:00:00")),
        ("starts_at", json!("2026-02-30T00:00:00Z")),
        ("starts_at", json!(1_794_355_200_000_u64)),
        ("ends_at", json!("tomorrow")),
        ("ends_at", json!("2026-11-10T23:59:59Z")),
        ("ends_at", json!("2026-11-10T23:59:58Z")),
        ("status", json!("running")),
        ("epoch", json!(3)),
    ] {
        bad.push((with(base.clone(), member, value), member));
    }
    all_refused(&house, Method::POST, "/admin/api/activities", bad).await;
}

#[tokio::test]
async fn changes_of_activities_are_read_strictly() {
    let house = House::new();
    let id = house.created(10).await;
    let base = json!({});
    let mut bad = texts(&base, "title");
    bad.extend(numbers(&base, "seckill_price_cents"));
    bad.extend(numbers(&base, "per_user_limit"));
    for (member, value) in [
        ("per_user_limit", json!(0)),
        ("per_user_limit", json!(11)),
        ("ends_at", json!("2026-11-10T23:59:59Z")),
        ("starts_at", json!(null)),
        ("challenge", json!("riddle")),
        ("notice", json!("")),
        ("version", json!(-1)),
        ("stock", json!(7)),
    ] {
        bad.push((with(base.clone(), member, value), member));
    }
    // The start after the end that stays: the window as a whole is what is wrong.
    bad.push((json!({"starts_at": "2026-11-11T01:00:00Z"}), "ends_at"));
    all_refused(&house, Method::PATCH, &format!("/admin/api/activities/{id}"), bad).await;
}

#[tokio::test]
async fn commands_are_read_strictly() {
    let house = House::new();
    let id = house.opened(10).await;
    let of = |action: &str| format!("/admin/api/activities/{id}/{action}");
    let mut bad = numbers(&json!({}), "quantity");
    bad.push((json!({"quantity": 0}), "quantity"));
    bad.push((json!({"quantity": 1, "units": 1}), "units"));
    bad.push((json!({}), "quantity"));
    all_refused(&house, Method::POST, &of("add-stock"), bad).await;
    for action in ["pause", "resume"] {
        let bad = vec![
            (json!({"at": "2026-11-11"}), "at"),
            (json!({"at": "2026-11-11T00:00:00Z"}), "at"),
            (json!({"at": 5}), "at"),
            (json!({"until": 5}), "until"),
        ];
        all_refused(&house, Method::POST, &of(action), bad).await;
    }
    for action in ["preheat", "close"] {
        all_refused(
            &house,
            Method::POST,
            &of(action),
            vec![(json!({"force": true}), "force")],
        )
        .await;
    }
    all_refused(
        &house,
        Method::POST,
        &of("reconcile"),
        vec![(json!({"fix": "yes"}), "fix")],
    )
    .await;
    all_refused(&house, Method::POST, &of("recover"), vec![(json!({"run": 1}), "run")]).await;
}

#[tokio::test]
async fn sale_that_is_over_already_is_made_with_a_warning_and_one_that_ends_later_without() {
    let house = House::new();
    let product_id = house.product().await;
    let ending = |ends_at: &str| with(activity(product_id, 10), "ends_at", json!(ends_at));
    let make = |body: Value| house.post("/admin/api/activities", body);
    let over = make(ending("2026-11-11T00:00:00Z")).await;
    let data = over.is(201, 0).data();
    let expect = json!(["the sale was over before it was made: it ended at 2026-11-11T00:00:00.000Z"]);
    assert_eq!((&data["warnings"], &data["phase"]), (&expect, &json!("ended")));
    let running = make(ending("2026-11-11T00:00:00.001Z")).await;
    assert_eq!(running.is(201, 0).data()["warnings"], json!([]));
}
