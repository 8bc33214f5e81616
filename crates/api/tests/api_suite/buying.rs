//! Purchases that come through, and what is told to those who come again.

use seckill_sale::Status;

use crate::house::{House, OPENS};

#[tokio::test]
async fn a_purchase_is_queued_with_its_place() {
    let house = House::new();
    let id = house.sale(5).await;
    house.buy(id, "a").send().await.is(202, 0);
    let reply = house.buy(id, "b").json("{}").send().await;
    let data = reply.is(202, 0).data();
    assert_eq!(data["ticket"], format!("T{id}-1-2"));
    assert_eq!(data["state"], "queued");
    assert_eq!(data["ahead"], 1);
    assert_eq!(data["settle_per_s"], 0);
    assert_eq!(data["as_of"], OPENS.0);
    assert_eq!(data["next_poll_ms"], 500);
    assert_eq!(data["delayed"], false);
    assert_eq!(reply.header("location"), format!("/api/seckill/result/{id}"));
    assert_eq!(reply.json["message"], "排队中");
    assert_eq!(reply.header("idempotency-replayed"), "");
    assert_eq!(house.left(id), 3);
    assert_eq!(house.metric(r#"seckill_purchases_total{outcome="accepted"}"#), 2.0);
}

#[tokio::test]
async fn the_same_key_gets_the_same_ticket_and_another_gets_his_own_told() {
    let house = House::new();
    let id = house.sale(5).await;
    let first = house.buy(id, "a").header("idempotency-key", "k1").send().await;
    first.is(202, 0);
    let again = house.buy(id, "a").header("idempotency-key", "k1").send().await;
    assert_eq!(again.is(202, 0).data()["ticket"], first.data()["ticket"]);
    assert_eq!(again.header("idempotency-replayed"), "true");
    let other = house.buy(id, "a").header("idempotency-key", "other").send().await;
    assert_eq!(other.is(409, 40004).data()["ticket"], first.data()["ticket"]);
    assert_eq!(other.data()["state"], "queued");
    house.settle().await;
    let later = house.buy(id, "a").send().await;
    assert_eq!(later.is(409, 40004).data()["state"], "succeeded");
    assert!(later.data()["order_no"].is_string());
    assert_eq!(house.left(id), 4);
    assert_eq!(house.metric("seckill_replays_total"), 1.0);
}

#[tokio::test]
async fn the_same_key_with_another_body_is_refused() {
    let house = House::new();
    let id = house
        .sale_with(5, |sale| {
            sale.per_user_limit = seckill_sale::Quantity::new(3).expect("in range");
        })
        .await;
    house
        .buy(id, "a")
        .header("idempotency-key", "k1")
        .json(r#"{"quantity":2}"#)
        .send()
        .await
        .is(202, 0);
    house
        .buy(id, "a")
        .header("idempotency-key", "k1")
        .json(r#"{"quantity":1}"#)
        .send()
        .await
        .is(422, 42200);
    house
        .buy(id, "b")
        .header("idempotency-key", "k1")
        .send()
        .await
        .is(202, 0);
    assert_eq!(house.left(id), 2);
}

#[tokio::test]
async fn a_lost_reply_is_told_again_after_sell_out_pause_and_end() {
    let house = House::new();
    let id = house.sale(1).await;
    let ask = |user: &str, key: &str| house.buy(id, user).header("idempotency-key", key);
    let first = ask("a", "k1").send().await;
    first.is(202, 0);
    ask("b", "k1").send().await.is(410, 40005);
    ask("a", "k1").send().await.is(202, 0);
    house.set_status(id, Status::Paused).await;
    let replay = ask("a", "k1").send().await;
    assert_eq!(replay.is(202, 0).data()["ticket"], first.data()["ticket"]);
    assert_eq!(replay.header("idempotency-replayed"), "true");
    ask("a", "other").send().await.is(503, 40006);
    ask("b", "k1").send().await.is(503, 40006);
    house.buy(id, "a").send().await.is(503, 40006);
    house.set_status(id, Status::Running).await;
    house.clock.advance(3_600_000);
    ask("a", "k1").send().await.is(202, 0);
    ask("a", "other").send().await.is(403, 40002);
    house.switch(|switches| switches.entry_open = false);
    ask("a", "k1").send().await.is(202, 0);
}

#[tokio::test]
async fn idempotency_keys_are_short_visible_ascii() {
    let house = House::new();
    let id = house.sale(5).await;
    let long = "k".repeat(65);
    for bad in ["", "k", " ", "a b", "ü", "a\t", &long] {
        house
            .buy(id, "a")
            .header("idempotency-key", bad)
            .send()
            .await
            .is(400, 40000);
    }
    let doubled = house
        .buy(id, "a")
        .header("idempotency-key", "aa")
        .header("idempotency-key", "aa");
    doubled.send().await.is(400, 40000);
    assert_eq!(house.left(id), 5);
    house
        .buy(id, "a")
        .header("idempotency-key", "k".repeat(64))
        .send()
        .await
        .is(202, 0);
}

#[tokio::test]
async fn a_purchase_token_opens_a_sale_that_asks_for_one() {
    let house = House::new();
    let id = house
        .sale_with(5, |sale| sale.challenge = seckill_sale::Challenge::Token)
        .await;
    let other = house
        .sale_with(5, |sale| sale.challenge = seckill_sale::Challenge::Token)
        .await;
    house.buy(id, "a").send().await.is(403, 40301);
    let token = |user: &str| house.post(format!("/api/seckill/{id}/token")).user(user);
    token("a").raw("x").send().await.is(415, 40000);
    house
        .post(format!("/api/seckill/{id}/token"))
        .send()
        .await
        .is(401, 40100);
    house.post("/api/seckill/x/token").user("a").send().await.is(400, 40000);
    house
        .post("/api/seckill/999/token")
        .user("a")
        .send()
        .await
        .is(404, 40400);
    let issued = token("a").send().await;
    let text = issued.is(200, 0).data()["token"].as_str().expect("a token").to_owned();
    let with = |id, user: &str, text: &str| house.buy(id, user).json(format!(r#"{{"token":"{text}"}}"#));
    let mut flipped = text.clone().into_bytes();
    flipped[20] ^= 1;
    let flipped = String::from_utf8(flipped).expect("text");
    with(id, "b", &text).send().await.is(403, 40301);
    with(other, "a", &text).send().await.is(403, 40301);
    with(id, "a", &flipped).send().await.is(403, 40301);
    assert_eq!(house.left(id), 5);
    with(id, "a", &text).send().await.is(202, 0);
    // Whoever has a ticket is told so, with a token and without.
    with(id, "a", &text).send().await.is(409, 40004);
    house.buy(id, "a").send().await.is(409, 40004);
    let late = token("b").send().await.data()["token"]
        .as_str()
        .expect("a token")
        .to_owned();
    house.clock.advance(300_000);
    with(id, "b", &late).send().await.is(403, 40301);
}

#[tokio::test]
async fn tokens_are_given_out_shortly_before_the_start_only() {
    let house = House::new();
    let id = house
        .sale_with(5, |sale| sale.challenge = seckill_sale::Challenge::Token)
        .await;
    let ask = || house.post(format!("/api/seckill/{id}/token")).user("a").send();
    house.clock.set(OPENS.plus(-300_001));
    ask().await.is(403, 40001);
    house.clock.set(OPENS.plus(-300_000));
    ask().await.is(200, 0);
}
