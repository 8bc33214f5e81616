//! Everything that a purchase can be refused for, and in which order. No refusal changes anything.

use futures_util::FutureExt;
use seckill_gate::{Block, Limit, Limits, PerLimit, Subject};
use seckill_sale::{ActivityId, Challenge, Code, Language, Quantity, Status};
use seckill_stock::Stock;

use crate::house::{ENDS, House, OPENS};
use crate::plan::Plan;

const OFF: Limits = Limits::OFF;

fn rate(text: &str) -> Limit {
    text.parse().expect("a limit")
}

/// A sale that asks for a token, one request a minute from each address but `10.0.0.2` and from each user; 200 s before its start.
async fn guarded(units: u64) -> (House, ActivityId) {
    let limits = Limits::from(PerLimit {
        ip: rate("1/min burst 1"),
        user: rate("1/min burst 1"),
        ..PerLimit::OFF
    });
    let house = House::with(&Plan {
        limits,
        exempt: vec!["10.0.0.2/32"],
        ..Plan::default()
    });
    let id = house.sale_with(units, |sale| sale.challenge = Challenge::Token).await;
    house.clock.set(OPENS.plus(-200_000));
    (house, id)
}

/// A request that deserves every refusal at once; each step mends what was refused last and hears of the next.
#[tokio::test]
async fn the_first_refusal_that_applies_is_the_answer() {
    let (house, id) = guarded(2).await;
    house.set_status(id, Status::Paused).await;
    let subject = Subject::parse("user", "a").expect("a user");
    let block = Block {
        subject,
        expires_at: None,
    };
    house.gate.blocks().replace([block]).expect("few");
    let many = r#"{"quantity":9}"#;
    let anonymous = |host| house.post("/api/seckill/x").from(host).json("{").send();
    let buy = |id: &str, body: &str| house.buy(id, "a").from(2).json(body).send();
    let (unknown, known) = ("999", id.to_string());

    anonymous(1).await.is(401, 40100);
    assert_eq!(anonymous(1).await.is(429, 40003).data()["scope"], "ip");
    anonymous(2).await.is(401, 40100);
    buy("x", "{}").await.is(400, 40000);
    buy(unknown, "{").await.is(400, 40000);
    buy(unknown, many).await.is(404, 40400);
    buy(&known, many).await.is(400, 40000);
    buy(&known, "{}").await.is(403, 40300);
    house.gate.blocks().replace([]).expect("none");
    buy(&known, "{}").await.is(503, 40006);
    house.set_status(id, Status::Running).await;
    let early = buy(&known, "{}").await;
    assert_eq!(early.is(403, 40001).data()["starts_at_ms"], OPENS.0);
    assert!((200..=230).contains(&early.header("retry-after").parse::<u64>().expect("seconds")));
    house.clock.set(OPENS.plus(-1));
    buy(&known, "{}").await.is(403, 40001);
    house.clock.set(OPENS);
    buy(&known, "{}").await.is(403, 40301);
    house.clock.set(ENDS);
    buy(&known, "{}").await.is(403, 40002);
}

#[tokio::test]
async fn behind_the_window_challenge_limit_ticket_stock_and_backlog_come_in_this_order() {
    let (house, id) = guarded(2).await;
    let issued = house.post(format!("/api/seckill/{id}/token")).from(2).user("a").send();
    let token = issued.await.data()["token"].as_str().expect("a token").to_owned();
    let buy = |user: &str| house.buy(id, user).from(2).send();
    let with_token = || {
        let body = format!(r#"{{"token":"{token}"}}"#);
        house.buy(id, "a").from(2).json(body).send()
    };
    house.clock.set(OPENS);
    buy("a").await.is(403, 40301);
    with_token().await.is(202, 0);
    assert_eq!(with_token().await.is(429, 40003).data()["scope"], "user");
    assert_eq!(buy("a").await.is(429, 40003).data()["scope"], "user");
    house.clock.advance(60_000);
    buy("a").await.is(409, 40004);
    house.switch(|switches| switches.challenge = Some(Challenge::None));
    buy("b").await.is(202, 0);
    house.stock.set_backlog_max(1);
    house.clock.advance(60_000);
    buy("a").await.is(409, 40004);
    buy("c").await.is(410, 40005);
    let other = house.sale(1).await;
    house.buy(other, "c").from(2).send().await.is(503, 50301);
}

#[tokio::test]
async fn a_sale_that_is_not_preheated_is_getting_ready() {
    let house = House::new();
    let id = house.unheated_sale(5, |_| {}).await;
    let reply = house.buy(id, "a").send().await;
    assert_eq!(reply.is(503, 50303).data()["reason"], "not_ready");
}

#[tokio::test]
async fn the_share_that_is_shut_out_hears_too_busy() {
    let house = House::new();
    let id = house.sale(5).await;
    house.switch(|switches| switches.admit_ratio = 0.0);
    let reply = house.buy(id, "a").header("accept-language", "en").send().await;
    assert_eq!(
        reply.is(503, 50300).json["message"],
        Code::Busy.message(Language::English)
    );
    assert_eq!(house.metric(r#"seckill_shed_total{reason="admit_ratio"}"#), 1.0);
    assert_eq!(house.left(id), 5);
}

#[tokio::test]
async fn refusals_by_a_limit_say_what_it_allows() {
    let house = House::with(&Plan {
        limits: Limits::from(PerLimit {
            user: rate("1/s burst 3"),
            activity: rate("10/min burst 4"),
            ..PerLimit::OFF
        }),
        ..Plan::default()
    });
    let id = house.sale(5).await;
    for _ in 0..3 {
        house.buy(id, "a").send().await;
    }
    let answer = house.buy(id, "a").send().await;
    answer.is(429, 40003);
    assert_eq!(answer.data()["scope"], "user");
    assert_eq!(answer.header("ratelimit-policy"), r#""user";q=3;w=3"#);
    assert_eq!(answer.header("ratelimit"), r#""user";r=0;t=1"#);
    house.buy(id, "b").send().await;
    let answer = house.buy(id, "c").send().await;
    answer.is(429, 40003);
    assert_eq!(answer.data()["scope"], "activity");
    assert_eq!(answer.header("ratelimit-policy"), r#""activity";q=4;w=24"#);
    assert_eq!(answer.header("ratelimit"), r#""activity";r=0;t=6"#);
}

#[tokio::test]
async fn purchases_past_those_that_may_be_under_way_hear_too_busy_at_once() {
    let house = House::with(&Plan {
        in_flight_max: 1,
        ..Plan::default()
    });
    let id = house.sale(5).await;
    for (user, body) in [("a", None), ("b", Some("{}"))] {
        let ask = |user: &str| match body {
            None => house.buy(id, user),
            Some(body) => house.buy(id, user).json(body),
        };
        // It waits for the store.
        let mut first = Box::pin(ask(user).send());
        assert!((&mut first).now_or_never().is_none());
        ask("other").send().await.is(503, 50300);
        first.await.is(202, 0);
        let gone = format!("gone-{user}");
        let given_up = Box::pin(ask(&gone).send()).now_or_never();
        assert!(given_up.is_none(), "its client went away");
    }
    house.buy(id, "last").send().await.is(202, 0);
    assert_eq!(house.metric(r#"seckill_shed_total{reason="in_flight"}"#), 2.0);
}

#[tokio::test]
async fn polls_and_pages_have_a_limit_of_their_own() {
    let house = House::with(&Plan {
        limits: Limits {
            read: rate("1/s burst 2"),
            ..OFF
        },
        ..Plan::default()
    });
    let id = house.sale(5).await;
    for _ in 0..2 {
        house.result(id, "a").send().await.is(404, 40401);
        house.get("/api/activities").send().await.is(200, 0);
    }
    assert_eq!(
        house.result(id, "a").send().await.is(429, 40003).data()["scope"],
        "user"
    );
    assert_eq!(
        house.get("/api/activities").send().await.is(429, 40003).data()["scope"],
        "ip"
    );
    assert_eq!(house.metric(r#"seckill_limited_total{scope="read"}"#), 2.0);
    house.result(id, "b").send().await.is(404, 40401);
    house.buy(id, "a").send().await.is(202, 0);
}

#[tokio::test]
async fn several_units_sell_up_to_the_limit_and_what_is_left() {
    let house = House::new();
    let id = house
        .sale_with(5, |sale| sale.per_user_limit = Quantity::new(3).expect("in range"))
        .await;
    house.buy(id, "a").json(r#"{"quantity":4}"#).send().await.is(400, 40000);
    house.buy(id, "a").json(r#"{"quantity":3}"#).send().await.is(202, 0);
    house.buy(id, "b").json(r#"{"quantity":3}"#).send().await.is(410, 40005);
    house.buy(id, "b").json(r#"{"quantity":2}"#).send().await.is(202, 0);
    assert_eq!(house.left(id), 0);
}
