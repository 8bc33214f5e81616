//! Signed requests of one address that come at once: no more of them are looked at than it may send, and good ones cost it nothing.

use futures_util::FutureExt as _;
use http::Method;
use seckill_gate::{Limits, PerLimit};
use seckill_sale::ActivityId;

use crate::asking::Asking;
use crate::house::House;
use crate::pieces::Pieces;
use crate::plan::Plan;
use crate::signed::{Signing, buy_path};

/// Requests of an address at once.
const BURST: usize = 3;

fn house(in_flight_max: usize) -> House {
    let limit = format!("1/min burst {BURST}").parse().expect("a limit");
    House::with(&Plan {
        limits: Limits {
            buy: PerLimit {
                ip: limit,
                ..PerLimit::OFF
            },
            read: limit,
        },
        in_flight_max,
        ..Plan::default()
    })
}

fn good<'a>(house: &'a House, id: ActivityId, user: &'static str, nonce: u32) -> Asking<'a> {
    Signing::of(house, user, nonce).asked(house, Method::POST, &buy_path(id), "")
}

/// Uses up what the address of these tests has left, but for so many.
async fn use_up(house: &House, id: ActivityId, left: usize) {
    for nonce in 0..BURST - left {
        let nonce = 1_000 + u32::try_from(nonce).expect("small");
        let signing = Signing::of(house, "mallory", nonce);
        let forged = signing.ask(house, Method::POST, &buy_path(id), "", &"0".repeat(64));
        forged.send().await.is(401, 40100);
    }
}

#[tokio::test]
async fn an_address_is_waited_for_with_as_many_bodies_as_it_may_send_requests() {
    for (method, path) in [
        (Method::POST, "/api/seckill/1"),
        (Method::POST, "/api/seckill/1/token"),
        (Method::GET, "/api/seckill/result/1"),
        (Method::POST, "/api/orders/S1-1-1/pay"),
        (Method::GET, "/api/orders"),
    ] {
        let house = house(100);
        let held = |nonce: u32| {
            let signing = Signing::of(&house, "alice", nonce);
            let asking = signing.asked(&house, method.clone(), path, "");
            asking.pieces(Pieces::never())
        };
        let mut waiting: Vec<_> = (0..3).map(|nonce| Box::pin(held(nonce).send())).collect();
        assert!(waiting.iter_mut().all(|one| one.now_or_never().is_none()), "{path}");
        let refused = held(3).send().now_or_never().expect("at once");
        assert_eq!(refused.is(429, 40003).data()["scope"], "ip", "{path}");
        assert!(held(4).from(2).send().now_or_never().is_none(), "{path}");
        // What breaks off is paid.
        drop(waiting);
        held(5).send().await.is(429, 40003);
    }
}

#[tokio::test]
async fn a_good_signature_gives_back_what_its_address_has_paid() {
    let house = house(100);
    let id = house.sale(5).await;
    use_up(&house, id, 1).await;
    let (body, release) = Pieces::held();
    let mut first = Box::pin(good(&house, id, "alice", 1).pieces(body).send());
    assert!((&mut first).now_or_never().is_none(), "it waits for its body");
    good(&house, id, "bob", 2).send().await.is(429, 40003);
    release.send(()).expect("it waits");
    first.await.is(202, 0);
    good(&house, id, "bob", 3).send().await.is(202, 0);
    let path = format!("/api/seckill/{id}/token");
    let token = |nonce| {
        Signing::of(&house, "bob", nonce)
            .asked(&house, Method::POST, &path, "")
            .send()
    };
    token(4).await.is(200, 0);
    token(5).await.is(200, 0);
}

#[tokio::test]
async fn good_signatures_of_one_address_wait_for_the_store_together() {
    let house = house(100);
    let id = house.sale(5).await;
    use_up(&house, id, 1).await;
    let mut waiting: Vec<_> = ["alice", "bob", "carol", "dave"]
        .into_iter()
        .zip(1..)
        .map(|(user, nonce)| Box::pin(good(&house, id, user, nonce).send()))
        .collect();
    assert!(waiting.iter_mut().all(|one| one.now_or_never().is_none()));
    for one in waiting {
        one.await.is(202, 0);
    }
}

#[tokio::test]
async fn copies_of_a_signed_request_do_not_wait_for_the_store_beside_it() {
    let house = house(100);
    let id = house.sale(5).await;
    use_up(&house, id, 1).await;
    let send = || Box::pin(good(&house, id, "alice", 1).send());
    let mut first = send();
    assert!((&mut first).now_or_never().is_none(), "it waits for the store");
    send().now_or_never().expect("at once").is(401, 40100);
    send().now_or_never().expect("at once").is(429, 40003);
    first.await.is(202, 0);
    assert_eq!(house.left(id), 4);
}

#[tokio::test]
async fn who_breaks_off_while_the_store_is_asked_neither_pays_nor_asks_it_again() {
    let house = house(1);
    let id = house.sale(5).await;
    use_up(&house, id, 1).await;
    let mut first = Box::pin(good(&house, id, "alice", 1).send());
    assert!((&mut first).now_or_never().is_none(), "it waits for the store");
    drop(first);
    // Its place is taken until the store has answered, and nobody has paid.
    let busy = |user, nonce| good(&house, id, user, nonce).send().now_or_never().expect("at once");
    busy("bob", 2).is(503, 50300);
    busy("bob", 3).is(503, 50300);
}
