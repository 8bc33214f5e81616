//! Signatures that do not hold, in numbers: what is looked at before a body is waited for and the store is asked.

use futures_util::FutureExt as _;
use http::Method;
use seckill_gate::{Limits, PerLimit};
use seckill_sale::ActivityId;

use crate::asking::Asking;
use crate::house::House;
use crate::pieces::{Pieces, TooSlow};
use crate::plan::Plan;
use crate::signed::{Signing, buy_path};

/// A house in which an address may come once, and one purchase may be under way.
fn narrow(exempt: Vec<&'static str>) -> House {
    let once = "1/min burst 1".parse().expect("a limit");
    House::with(&Plan {
        limits: Limits {
            buy: PerLimit {
                ip: once,
                ..PerLimit::OFF
            },
            read: once,
        },
        exempt,
        in_flight_max: 1,
        ..Plan::default()
    })
}

fn good<'a>(house: &'a House, id: ActivityId, user: &'static str, nonce: u32) -> Asking<'a> {
    Signing::of(house, user, nonce).asked(house, Method::POST, &buy_path(id), "")
}

/// One whose head could be a good one's.
fn forged(house: &House, id: ActivityId, nonce: u32) -> Asking<'_> {
    let signature = "0".repeat(64);
    Signing::of(house, "mallory", nonce).ask(house, Method::POST, &buy_path(id), "", &signature)
}

#[tokio::test]
async fn a_head_that_no_client_has_signed_makes_nobody_wait_for_its_body() {
    let house = House::new();
    let id = house.sale(3).await;
    let mut nonce = 0;
    let mut without_body = |off_ms| {
        nonce += 1;
        let mut signing = Signing::of(&house, "alice", nonce);
        signing.at_ms += off_ms;
        let asking = signing.asked(&house, Method::POST, &buy_path(id), "");
        asking.pieces(Pieces::new([Err(TooSlow)])).send()
    };
    without_body(0).await.is(408, 40800);
    without_body(-30_001).await.is(401, 40100);
    let stranger = house.post(buy_path(id)).header("x-client-id", "shop-2");
    let stranger = stranger.pieces(Pieces::new([Err(TooSlow)]));
    stranger.send().await.is(401, 40100);
}

#[tokio::test]
async fn an_address_that_forges_is_refused_before_the_store_is_asked_and_before_a_place_is_taken() {
    let house = narrow(Vec::new());
    let id = house.sale(5).await;
    forged(&house, id, 1).send().await.is(401, 40100);
    let refused = good(&house, id, "alice", 2).send().await;
    assert_eq!(refused.is(429, 40003).data()["scope"], "ip");
    good(&house, id, "alice", 2).from(2).send().await.is(202, 0);
    // One that was there before costs the store a look, and its address as much as a forged one.
    good(&house, id, "alice", 2).from(3).send().await.is(401, 40100);
    good(&house, id, "alice", 2).from(3).send().await.is(429, 40003);
    let mut waiting = Box::pin(good(&house, id, "bob", 4).from(2).send());
    assert!((&mut waiting).now_or_never().is_none(), "it waits for the store");
    forged(&house, id, 5).send().await.is(429, 40003);
    good(&house, id, "carol", 6).from(2).send().await.is(503, 50300);
    waiting.await.is(202, 0);
    assert_eq!(house.metric(r#"seckill_limited_total{scope="ip"}"#), 3.0);
    assert_eq!(house.metric(r#"seckill_purchases_total{outcome="limited"}"#), 3.0);
}

#[tokio::test]
async fn forged_polls_use_up_the_reads_of_their_address_and_no_purchases() {
    let house = narrow(Vec::new());
    let id = house.sale(5).await;
    let path = format!("/api/seckill/result/{id}");
    let poll = |nonce| {
        let signing = Signing::of(&house, "mallory", nonce);
        signing.ask(&house, Method::GET, &path, "", &"0".repeat(64)).send()
    };
    poll(1).await.is(401, 40100);
    assert_eq!(poll(2).await.is(429, 40003).data()["scope"], "ip");
    assert_eq!(house.metric(r#"seckill_limited_total{scope="read"}"#), 1.0);
    good(&house, id, "alice", 3).send().await.is(202, 0);
}

#[tokio::test]
async fn an_exempt_address_is_never_used_up() {
    let house = narrow(vec!["10.0.0.1/32"]);
    let id = house.sale(5).await;
    for nonce in 1..4 {
        forged(&house, id, nonce).send().await.is(401, 40100);
    }
    good(&house, id, "alice", 4).send().await.is(202, 0);
}

#[tokio::test]
async fn a_signed_request_is_under_way_while_its_signature_is_checked() {
    let house = House::with(&Plan {
        in_flight_max: 1,
        ..Plan::default()
    });
    let id = house.sale(3).await;
    let sign = |nonce| {
        let signing = Signing::of(&house, "alice", nonce);
        Box::pin(signing.asked(&house, Method::POST, &buy_path(id), "").send())
    };
    // It waits for the store to take its nonce.
    let mut first = sign(1);
    assert!((&mut first).now_or_never().is_none());
    house.buy(id, "bob").send().await.is(503, 50300);
    sign(2).await.is(503, 50300);
    first.await.is(202, 0);
    sign(3).await.is(409, 40004);
}

#[tokio::test]
async fn what_is_refused_before_a_signature_is_checked_counts_like_any_purchase() {
    let house = House::with(&Plan {
        limits: Limits::from(PerLimit {
            ip: "1/min burst 1".parse().expect("a limit"),
            ..PerLimit::OFF
        }),
        ..Plan::default()
    });
    let id = house.sale(3).await;
    let large = format!(r#"{{"token":"{}"}}"#, "x".repeat(5_000));
    let send = |nonce| {
        let signing = Signing::of(&house, "alice", nonce);
        signing.asked(&house, Method::POST, &buy_path(id), &large).send()
    };
    send(1).await.is(413, 40000);
    send(2).await.is(429, 40003);
    let ended = |outcome| house.metric(&format!(r#"seckill_purchases_total{{outcome="{outcome}"}}"#));
    assert_eq!([ended("malformed"), ended("limited")], [1.0, 1.0]);
    assert_eq!(house.metric(r#"seckill_limited_total{scope="ip"}"#), 1.0);
}

#[tokio::test]
async fn where_nothing_is_to_be_had_no_signature_is_looked_at() {
    let house = narrow(Vec::new());
    let id = house.sale(5).await;
    let rows = [
        (Method::GET, "/api/seckill/", 404),
        (Method::POST, "/api/seckill/1/2", 404),
        (Method::POST, "/api/seckill/1/2/token", 404),
        (Method::POST, "/api/orders/1/2", 404),
        (Method::GET, "/api/orders/", 404),
        (Method::GET, "/api/seckill/1", 405),
        (Method::GET, "/api/seckill/1/token", 405),
        (Method::POST, "/api/seckill/events/token", 405),
        (Method::PUT, "/api/seckill/result/1", 405),
        (Method::DELETE, "/api/orders", 405),
        (Method::GET, "/api/orders/S1-1-1/pay", 405),
    ];
    for (nonce, (method, path, status)) in (1..).zip(rows) {
        let asked = Signing::of(&house, "alice", nonce).asked(&house, method, path, "");
        let answer = asked.pieces(Pieces::never()).send().now_or_never();
        let answer = answer.unwrap_or_else(|| panic!("{path}: it waits"));
        assert_eq!(answer.status, status, "{path}");
    }
    // Neither was anything taken of the address, nor a nonce used.
    good(&house, id, "alice", 1).send().await.is(202, 0);
}

#[tokio::test]
async fn a_forged_request_counts_at_the_limit_of_its_route_as_the_router_knows_it() {
    for (method, path, scope) in [
        (Method::POST, "/api/seckill/1", "ip"),
        (Method::POST, "/api/seckill/1/token", "ip"),
        (Method::GET, "/api/seckill/events/token", "read"),
        (Method::GET, "/api/seckill/ws/token", "read"),
        (Method::GET, "/api/seckill/result/token", "read"),
        (Method::HEAD, "/api/seckill/result/1", "read"),
        (Method::GET, "/api/orders/token", "read"),
        (Method::POST, "/api/orders/token/pay", "read"),
    ] {
        let house = narrow(Vec::new());
        let send = |nonce| {
            let signing = Signing::of(&house, "mallory", nonce);
            signing.ask(&house, method.clone(), path, "", &"0".repeat(64)).send()
        };
        // Whether the signature is looked at behind the path or before it is the route's matter; it was paid for in any case.
        assert!(matches!(send(1).await.status.as_u16(), 400 | 401), "{path}");
        assert_eq!(send(2).await.status, 429, "{path}");
        let name = format!("seckill_limited_total{{scope=\"{scope}\"}}");
        assert_eq!(house.metric(&name), 1.0, "{path}");
    }
}
