//! Switches that wait for their turn at one node are obeyed by the others.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::FutureExt as _;
use http::Method;
use seckill_stock::{Brake as _, WAITING_MS};
use serde_json::json;

use crate::brake_hanging::{TURNS, is_shut};
use crate::house::House;
use crate::request::Reply;
use crate::tap::{SWITCHES, lock};

#[tokio::test]
async fn a_shut_that_waits_for_its_turn_is_obeyed_by_other_nodes_until_it_was_carried_out_and_lifted() {
    let house = House::new();
    let (gate, other, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    let patch = |change| house.patch(SWITCHES, change);
    let stuck = house.engine.stick().await;
    let mut first = pin!(patch(json!({"backlog_max": 300_000})));
    let mut shut = pin!(patch(json!({"entry_open": false})));
    for _ in 0..TURNS {
        for waits in [first.as_mut(), shut.as_mut()] {
            assert!(futures_util::poll!(waits).is_pending());
        }
        tokio::task::yield_now().await;
    }
    let watched = other.watch_switches().now_or_never();
    assert!(watched.is_none(), "the store does not say what it keeps");
    assert!(is_shut(&gate) && is_shut(&house.gate));
    house.engine.disk.shut(false);
    first.await.is(200, 0);
    assert_eq!(shut.await.is(200, 0).data()["revision"], 2);
    stuck.await.expect("ended").expect("written");
    assert!(is_shut(&gate));
    // Told to open, a node need not be told twice: nothing waits any more.
    let open = house.ask(Method::PATCH, SWITCHES).operator();
    let opened = open.json(&json!({"entry_open": true})).at(&other).send().await;
    assert_eq!(opened.is(200, 0).data()["entry_open"], true);
    house.console.watch_switches().await;
    house.console.refresh().await.expect("the ledger answers");
    assert!(!is_shut(&gate) && !is_shut(&house.gate));
}

#[tokio::test]
async fn what_waits_for_its_turn_is_obeyed_no_more_once_it_is_refused_or_its_node_has_ended() {
    let house = House::new();
    let (gate, other, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    let tell = async |waiting: Option<&str>| {
        let told = house.store.tell_waiting("node-3", waiting.map(str::to_owned)).await;
        told.expect("told");
        other.watch_switches().await;
        let switches = gate.switches();
        (switches.entry_open, switches.read_only, switches.admit_ratio)
    };
    // As a later version may say it.
    assert_eq!(tell(Some(r#"{"admit_ratio":0.5,"later":1}"#)).await, (true, false, 0.5));
    assert_eq!(
        tell(Some(r#"{"entry_open":false,"read_only":true}"#)).await,
        (false, true, 1.0)
    );
    assert_eq!(tell(None).await, (true, false, 1.0));
    assert_eq!(tell(Some(r#"{"entry_open":false}"#)).await, (false, false, 1.0));
    house.clock.advance(WAITING_MS);
    other.watch_switches().await;
    assert!(!is_shut(&gate));
    // Refused, since it loosens and the ledger does not answer: nobody is told of it any more.
    let locked = lock(&house);
    let mixed = json!({"entry_open": true, "admit_ratio": 0.5, "backlog_max": 5});
    house.patch(SWITCHES, mixed).await.is(503, 50300);
    other.watch_switches().await;
    assert_eq!(gate.switches().admit_ratio, 1.0);
    drop(locked);
}

#[tokio::test]
async fn what_waited_is_obeyed_until_it_was_read_what_the_store_keeps_of_it() {
    let house = House::new();
    let (gate, other, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    let tell = async |waiting: Option<&str>| {
        let told = house.store.tell_waiting("node-3", waiting.map(str::to_owned)).await;
        told.expect("told");
    };
    tell(Some(r#"{"entry_open":false}"#)).await;
    other.watch_switches().await;
    assert!(is_shut(&gate));
    tell(None).await;
    let stuck = house.engine.stick().await;
    let watched = other.watch_switches().now_or_never();
    assert!(watched.is_none(), "the store does not say what it keeps");
    assert!(is_shut(&gate));
    house.engine.disk.shut(false);
    stuck.await.expect("ended").expect("written");
    other.watch_switches().await;
    assert!(!is_shut(&gate));
}

/// What the store keeps other nodes carry out.
#[tokio::test]
async fn a_shut_that_the_ledger_refuses_or_has_had_before_is_decided_without_a_word_to_the_store() {
    let house = House::new();
    let (gate, behind, _) = house.another_node(Arc::new(house.store.clone()), "node-2").await;
    let shut = |key: &str, change| {
        let request = house.ask(Method::PATCH, SWITCHES).operator();
        request.header("idempotency-key", key).json(&change)
    };
    shut("k", json!({"entry_open": false})).send().await.is(200, 0);
    house.patch(SWITCHES, json!({"entry_open": true})).await.is(200, 0);
    let stuck = house.engine.stick().await;
    let stale = shut("l", json!({"revision": 0, "entry_open": false})).at(&behind);
    answered(stale.send()).await.is(409, 40900);
    let repeated = answered(shut("k", json!({"entry_open": false})).send()).await;
    assert_eq!(repeated.is(200, 0).data()["entry_open"], true);
    assert!(repeated.is_replayed());
    house.engine.disk.shut(false);
    stuck.await.expect("ended").expect("written");
    assert!(!is_shut(&gate) && !is_shut(&house.gate));
}

/// The answer, which waits for nothing.
async fn answered(asked: impl Future<Output = Reply>) -> Reply {
    let mut asked = pin!(asked);
    for _ in 0..TURNS {
        if let Poll::Ready(reply) = futures_util::poll!(asked.as_mut()) {
            return reply;
        }
        tokio::task::yield_now().await;
    }
    panic!("it waits");
}
