//! The older endpoint, on which a gateway names the buyer.

use crate::house::House;
use crate::plan::Plan;

/// Host of the trusted proxy.
const PROXY: u8 = 9;

fn house() -> House {
    House::with(&Plan {
        gateway: true,
        ..Plan::default()
    })
}

fn body(id: impl std::fmt::Display, user: &str) -> String {
    format!(r#"{{"activity_id":{id},"user_id":"{user}"}}"#)
}

#[tokio::test]
async fn a_trusted_gateway_buys_for_the_user_it_names() {
    let house = house();
    let id = house.sale(3).await;
    let buy = |user: &str| house.post("/seckill").from(PROXY).json(body(id, user));
    let first = buy("a").send().await;
    assert_eq!(first.is(202, 0).header("location"), format!("/api/seckill/result/{id}"));
    buy("a").header("x-user-id", "a").send().await.is(409, 40004);
    buy("b").header("x-user-id", "c").send().await.is(401, 40100);
    let result = house
        .get(format!("/api/seckill/result/{id}"))
        .from(PROXY)
        .header("x-user-id", "a")
        .send()
        .await;
    assert_eq!(result.is(200, 0).data()["ticket"], first.data()["ticket"]);
    let new = house
        .post(format!("/api/seckill/{id}"))
        .from(PROXY)
        .header("x-user-id", "d")
        .send()
        .await;
    new.is(202, 0);
    assert_eq!(house.left(id), 1);
}

#[tokio::test]
async fn nobody_but_a_trusted_gateway_names_buyers() {
    let house = house();
    let id = house.sale(3).await;
    house.post("/seckill").json(body(id, "a")).send().await.is(401, 40100);
    house
        .post("/seckill")
        .header("x-user-id", "a")
        .json(body(id, "a"))
        .send()
        .await
        .is(401, 40100);
    let direct = house.post(format!("/api/seckill/{id}")).header("x-user-id", "a");
    direct.send().await.is(401, 40100);
    let forwarded = house
        .post("/seckill")
        .header("x-forwarded-for", "10.0.0.9")
        .json(body(id, "a"));
    forwarded.send().await.is(401, 40100);
    assert_eq!(house.left(id), 3);
}

#[tokio::test]
async fn bodies_are_as_strict_as_on_the_buy_route() {
    let house = house();
    let id = house.sale(3).await;
    let send = |body: &str| house.post("/seckill").from(PROXY).json(body).send();
    for bad in [
        "",
        "{}",
        r#"{"activity_id":1}"#,
        r#"{"activity_id":"1","user_id":"a"}"#,
        r#"{"activity_id":1,"user_id":"a b"}"#,
        r#"{"activity_id":1,"user_id":"a","quantity":1}"#,
        r#"{"activity_id":1,"user_id":"a","user_id":"b"}"#,
        r#"{"activity_id":-1,"user_id":"a"}"#,
    ] {
        send(bad).await.is(400, 40000);
    }
    send(&body(999, "a")).await.is(404, 40400);
    house
        .post("/seckill")
        .from(PROXY)
        .raw(body(id, "a"))
        .send()
        .await
        .is(415, 40000);
}

#[tokio::test]
async fn with_tokens_there_is_no_such_endpoint() {
    let house = House::new();
    let id = house.sale(3).await;
    house
        .post("/seckill")
        .from(PROXY)
        .json(body(id, "a"))
        .send()
        .await
        .is(404, 40401);
    assert_eq!(house.left(id), 3);
}
