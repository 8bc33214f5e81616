//! Results that are pushed.

use std::time::Duration;

use http_body_util::BodyExt;
use seckill_api::Body;

use crate::house::House;
use crate::plan::Plan;

fn path(id: impl std::fmt::Display) -> String {
    format!("/api/seckill/events/{id}")
}

async fn next(body: &mut Body) -> Option<String> {
    let frame = body.frame().await?.expect("a whole stream");
    let bytes = frame.into_data().expect("data");
    Some(String::from_utf8(bytes.to_vec()).expect("text"))
}

#[tokio::test]
async fn a_stream_tells_the_result_once_and_ends() {
    let house = House::new();
    let id = house.sale(5).await;
    house.buy(id, "a").send().await.is(202, 0);
    let response = house.get(path(id)).user("a").open().await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert!(response.headers().contains_key("server-time"));
    let mut body = response.into_body();
    assert!(next(&mut body).await.expect("an opening").contains("retry: "));
    house.settle().await;
    let event = next(&mut body).await.expect("an event");
    let data = event.strip_prefix("event: result\ndata: ").expect("one event");
    let json: serde_json::Value = serde_json::from_str(data.trim_end()).expect("JSON");
    assert_eq!(json["code"], 1);
    assert_eq!(json["data"]["state"], "succeeded");
    assert_eq!(next(&mut body).await, None);
}

#[tokio::test]
async fn a_result_that_is_final_already_is_told_at_once() {
    let house = House::new();
    let id = house.sale(5).await;
    house.buy(id, "a").send().await.is(202, 0);
    house.settle().await;
    let mut body = house.get(path(id)).user("a").open().await.into_body();
    assert!(next(&mut body).await.expect("an event").starts_with("event: result\n"));
    assert_eq!(next(&mut body).await, None);
}

#[tokio::test]
async fn there_is_no_stream_without_a_ticket_or_identity() {
    let house = House::new();
    let id = house.sale(5).await;
    house.get(path(id)).send().await.is(401, 40100);
    house.get(path(id)).user("a").send().await.is(404, 40401);
    house
        .get(format!("{}?token={}", path(id), house.token("a")))
        .send()
        .await
        .is(401, 40100);
}

#[tokio::test]
async fn streams_are_counted_by_user_and_altogether() {
    let house = House::new();
    let id = house.sale(5).await;
    for user in ["a", "b"] {
        house.buy(id, user).send().await.is(202, 0);
    }
    let open = |user: &str| house.get(path(id)).user(user);
    let first = open("a").open().await;
    let second = open("a").open().await;
    open("a").send().await.is(429, 42901);
    let third = open("b").open().await;
    open("b").send().await.is(429, 42901);
    assert_eq!(house.metric(r#"seckill_streams{kind="sse"}"#), 3.0);
    drop(first);
    let again = open("b").open().await;
    assert_eq!(again.status(), 200);
    drop((second, third, again));
    assert_eq!(house.metric(r#"seckill_streams{kind="sse"}"#), 0.0);
}

#[tokio::test]
async fn a_stopping_process_says_when_to_come_again() {
    let house = House::new();
    let id = house.sale(5).await;
    house.buy(id, "a").send().await.is(202, 0);
    let mut body = house.get(path(id)).user("a").open().await.into_body();
    next(&mut body).await.expect("an opening");
    house.shutdown.cancel();
    assert!(next(&mut body).await.expect("a goodbye").contains("retry: "));
    assert_eq!(next(&mut body).await, None);
}

#[tokio::test]
async fn a_silent_stream_gives_signs_of_life() {
    let mut plan = Plan::default();
    plan.streams.heartbeat = Duration::from_millis(1);
    let house = House::with(&plan);
    let id = house.sale(5).await;
    house.buy(id, "a").send().await.is(202, 0);
    let mut body = house.get(path(id)).user("a").open().await.into_body();
    next(&mut body).await.expect("an opening");
    for _ in 0..3 {
        assert_eq!(next(&mut body).await.as_deref(), Some(": still queued\n\n"));
    }
    house.settle().await;
    while next(&mut body).await.is_some_and(|piece| piece == ": still queued\n\n") {}
    assert_eq!(next(&mut body).await, None);
}

#[tokio::test]
async fn a_stream_ends_with_the_token_that_opened_it() {
    let house = House::new();
    let id = house.sale(5).await;
    house.buy(id, "a").send().await.is(202, 0);
    let token = house.short_token("a");
    house.clock.advance(999);
    let asking = house.get(path(id)).header("authorization", format!("Bearer {token}"));
    let mut body = asking.open().await.into_body();
    next(&mut body).await.expect("an opening");
    assert!(next(&mut body).await.expect("a goodbye").contains("retry: "));
    assert_eq!(next(&mut body).await, None);
}
