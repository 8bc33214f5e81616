//! Names of devices that the house signs at first sight.

use seckill_gate::{DeviceRule, Limits, PerLimit};
use seckill_sale::{ActivityId, Challenge};

use crate::asking::Reply;
use crate::house::House;
use crate::plan::Plan;

fn strict(limits: Limits) -> House {
    House::with(&Plan {
        devices: DeviceRule::Signed,
        limits,
        ..Plan::default()
    })
}

async fn token(house: &House, id: ActivityId, user: &str, device: Option<&str>) -> Reply {
    let asking = house.post(format!("/api/seckill/{id}/token")).user(user);
    match device {
        Some(device) => asking.header("x-device-id", device).send().await,
        None => asking.send().await,
    }
}

fn text(reply: &Reply, member: &str) -> String {
    reply.is(200, 0).data()[member].as_str().expect("a text").to_owned()
}

#[tokio::test]
async fn a_device_has_its_name_from_the_token_route_and_buys_with_it() {
    let house = strict(Limits::OFF);
    let id = house.sale(5).await;
    house.buy(id, "a").send().await.is(403, 40301);
    house
        .buy(id, "a")
        .header("x-device-id", "made-up")
        .send()
        .await
        .is(403, 40301);
    assert_eq!(house.left(id), 5);
    let first = token(&house, id, "a", None).await;
    let device = text(&first, "device_id");
    assert_eq!(first.header("x-device-id"), device);
    let again = token(&house, id, "a", Some(&device)).await;
    assert!(
        again.is(200, 0).data().get("device_id").is_none(),
        "it has one that counts"
    );
    house
        .buy(id, "a")
        .header("x-device-id", &device)
        .send()
        .await
        .is(202, 0);
    // Whoever has a ticket is told so, from whatever device.
    house.buy(id, "a").send().await.is(409, 40004);
}

#[tokio::test]
async fn a_token_that_came_with_a_device_is_good_on_that_device_alone() {
    let house = strict(Limits::OFF);
    let id = house.sale_with(5, |sale| sale.challenge = Challenge::Token).await;
    let (mine, other) = (token(&house, id, "a", None).await, token(&house, id, "b", None).await);
    let body = format!(r#"{{"token":"{}"}}"#, text(&mine, "token"));
    let buy = |device: String| house.buy(id, "a").header("x-device-id", device).json(body.clone());
    buy(text(&other, "device_id")).send().await.is(403, 40301);
    buy(text(&mine, "device_id")).send().await.is(202, 0);
}

#[tokio::test]
async fn one_device_is_limited_whoever_uses_it() {
    let house = strict(Limits::from(PerLimit {
        device: "1/min burst 2".parse().expect("a limit"),
        ..PerLimit::OFF
    }));
    let id = house.sale(9).await;
    let device = text(&token(&house, id, "a", None).await, "device_id");
    let buy = |user: &str| house.buy(id, user).header("x-device-id", device.clone());
    buy("a").send().await.is(202, 0);
    let refused = buy("b").send().await;
    assert_eq!(refused.is(429, 40003).data()["scope"], "device");
}
