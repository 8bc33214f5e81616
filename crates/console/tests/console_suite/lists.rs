//! Lists of orders, products and schedules.

use serde_json::{Value, json};

use crate::house::{House, product, with};

#[tokio::test]
async fn lists_are_read_in_pages_that_meet() {
    let house = House::new();
    for n in 0..5 {
        let body = with(product(), "name", json!(format!("p{n}")));
        house.post("/admin/api/products", body).await.is(201, 0);
    }
    let mut names = Vec::new();
    let mut path = "/admin/api/products?limit=2".to_owned();
    loop {
        let reply = house.get(&path).await;
        let data = reply.is(200, 0).data();
        let rows = data["products"].as_array().expect("rows");
        names.extend(rows.iter().map(|row| row["name"].as_str().expect("a name").to_owned()));
        let Some(cursor) = data["next_cursor"].as_str() else {
            break;
        };
        path = format!("/admin/api/products?limit=2&cursor={cursor}");
    }
    assert_eq!(names, ["p0", "p1", "p2", "p3", "p4"]);
}

#[tokio::test]
async fn orders_are_listed_by_activity_and_by_user() {
    let house = House::new();
    let (first, second) = (house.opened(3).await, house.opened(3).await);
    for (id, user) in [(first, "a"), (first, "b"), (second, "a")] {
        house.claim(id, user).await.expect("a unit is left");
    }
    house.settle().await;
    let count = async |query: &str| {
        let reply = house.get(&format!("/admin/api/orders{query}")).await;
        reply.is(200, 0).data()["orders"].as_array().expect("orders").len()
    };
    assert_eq!(count("").await, 3);
    assert_eq!(count(&format!("?activity_id={first}")).await, 2);
    assert_eq!(count("?user_id=a").await, 2);
    assert_eq!(count(&format!("?activity_id={second}&user_id=b")).await, 0);
    let reply = house.get(&format!("/admin/api/orders?activity_id={second}")).await;
    let order = &reply.data()["orders"][0];
    assert_eq!(
        (&order["user_id"], &order["amount_cents"], &order["state"]),
        (&json!("a"), &json!(100), &json!("pending_payment"))
    );
    assert_eq!(order["pay_deadline"], "2026-11-11T00:15:00.000Z");
}

#[tokio::test]
async fn schedules_are_made_shown_and_switched() {
    let house = House::new();
    let body = json!({
        "cron": "0 20 * * *", "time_zone": "Asia/Shanghai", "duration_s": 600, "lead_s": 3_600,
        "product_id": house.product().await, "title": "每晚八点", "seckill_price_cents": 100, "stock": 10,
    });
    let made = house.post("/admin/api/schedules", body.clone()).await;
    let data = made.is(201, 0).data();
    assert_eq!(
        (&data["duration_s"], &data["lead_s"], &data["enabled"]),
        (&json!(600), &json!(3_600), &json!(true))
    );
    assert_eq!(data["next_round"], "2026-11-11T12:00:00.000Z");
    house
        .post("/admin/api/schedules", with(body, "product_id", json!(99)))
        .await
        .is(404, 40401);
    let path = format!("/admin/api/schedules/{}", made.id());
    let off = house.patch(&path, json!({"enabled": false})).await;
    assert_eq!(
        (&off.is(200, 0).data()["enabled"], &off.data()["next_round"]),
        (&json!(false), &Value::Null)
    );
    let list = house.get("/admin/api/schedules").await;
    assert_eq!(list.data()["schedules"].as_array().map(Vec::len), Some(1));
}
