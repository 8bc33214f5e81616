//! Who may buy: a level beside the activity, and lists of users that are put in whole or not at all.

use http::Method;
use seckill_gate::Gate;
use seckill_sale::{ActivityId, UserId};
use serde_json::{Value, json};

use crate::house::House;
use crate::request::Reply;

pub(crate) fn path(id: u64) -> String {
    format!("/admin/api/activities/{id}/eligibility")
}

pub(crate) async fn put(house: &House, id: u64, kind: &str, body: &[u8]) -> Reply {
    let asking = house.ask(Method::PUT, &path(id)).operator();
    asking.header("content-type", kind).bytes(body).send().await
}

/// Whether the list of this gate has the user.
pub(crate) fn has(gate: &Gate, id: u64, user: &str) -> Option<bool> {
    let id = ActivityId::new(id).expect("in range");
    let user = UserId::new(user).expect("valid");
    gate.eligible().of(id).map(|list| list.has(&user))
}

#[tokio::test]
async fn a_list_is_in_force_before_the_answer_and_found_by_other_nodes() {
    let house = House::new();
    let id = house.opened(5).await;
    let answer = put(&house, id, "text/plain; charset=utf-8", b"alice\r\nbob\nalice\n").await;
    let data = answer.is(200, 0).data().clone();
    assert_eq!(
        (&data["list"]["form"], &data["list"]["users"]),
        (&json!("users"), &json!(2))
    );
    for gate in [house.gate.clone(), house.another_gate().await] {
        assert_eq!(
            [has(&gate, id, "alice"), has(&gate, id, "carol")],
            [Some(true), Some(false)]
        );
    }
    let next = put(&house, id, "text/plain", b"carol").await.is(200, 0).data().clone();
    assert!(data["list"]["version"].as_u64() < next["list"]["version"].as_u64());
    assert_eq!(
        [has(&house.gate, id, "alice"), has(&house.gate, id, "carol")],
        [Some(false), Some(true)]
    );
    assert_eq!(house.get(&path(id)).await.is(200, 0).data(), &next);
    let removed = house.ask(Method::DELETE, &path(id)).operator().send().await;
    assert_eq!(removed.is(200, 0).data()["list"], Value::Null);
    assert_eq!(has(&house.gate, id, "carol"), None);
    assert_eq!(
        house
            .actions()
            .await
            .iter()
            .filter(|action| action.contains("eligible_list"))
            .count(),
        3
    );
}

#[tokio::test]
async fn a_bad_line_is_named_and_the_present_list_stays() {
    let house = House::new();
    let id = house.opened(5).await;
    put(&house, id, "text/plain", b"alice").await.is(200, 0);
    let refused = put(&house, id, "text/plain", b"bob\ncarol\nd e f\n").await;
    let detail = refused.is(400, 40000).json["detail"]
        .as_str()
        .expect("a detail")
        .to_owned();
    assert!(detail.contains("line 3"), "{detail}");
    put(&house, id, "text/plain", b"").await.is(400, 40000);
    put(&house, id, "application/x-www-form-urlencoded", b"bob")
        .await
        .is(415, 40000);
    put(&house, 99, "text/plain", b"bob").await.is(404, 40400);
    assert_eq!(
        [has(&house.gate, id, "alice"), has(&house.gate, id, "bob")],
        [Some(true), Some(false)]
    );
}

#[tokio::test]
async fn a_bloom_filter_is_taken_where_its_numbers_fit() {
    let house = House::new();
    let id = house.opened(5).await;
    let send = |bytes: &str, bits: u64, hashes: u64| {
        json!({"bloom": {"bytes": bytes, "bits": bits, "hashes": hashes}}).to_string()
    };
    let answer = put(&house, id, "application/json", send("/w==", 8, 3).as_bytes()).await;
    assert_eq!(answer.is(200, 0).data()["list"]["form"], "bloom");
    let other = house.another_gate().await;
    assert_eq!(has(&other, id, "anybody"), Some(true));
    for bad in [
        send("/w==", 9, 3),
        send("!", 8, 3),
        send("/w==", 8, 0),
        send("/w==", 8, 33),
        "{}".to_owned(),
    ] {
        put(&house, id, "application/json", bad.as_bytes()).await.is(400, 40000);
    }
}

#[tokio::test]
async fn the_same_upload_under_one_key_is_done_once() {
    let house = House::new();
    let id = house.opened(5).await;
    let send = |body: &'static [u8]| {
        let asking = house.ask(Method::PUT, &path(id)).operator();
        let asking = asking
            .header("content-type", "text/plain")
            .header("idempotency-key", "k");
        asking.bytes(body).send()
    };
    send(b"alice").await.is(200, 0);
    put(&house, id, "text/plain", b"bob").await.is(200, 0);
    let replayed = send(b"alice").await;
    assert_eq!(replayed.is(200, 0).headers["idempotency-replayed"], "true");
    assert_eq!(
        [has(&house.gate, id, "alice"), has(&house.gate, id, "bob")],
        [Some(false), Some(true)]
    );
    send(b"mallory").await.is(422, 42200);
}

#[tokio::test]
async fn a_level_stands_beside_the_activity() {
    let house = House::new();
    let id = house.opened(5).await;
    let activity = format!("/admin/api/activities/{id}");
    let patch = |body: Value| house.patch(&activity, body);
    assert_eq!(patch(json!({})).await.data()["eligibility"], Value::Null);
    let level = patch(json!({"eligibility": {"min_level": 3}})).await;
    assert_eq!(level.is(200, 0).data()["eligibility"]["min_level"], 3);
    put(&house, id, "text/plain", b"alice").await.is(200, 0);
    let both = house.get(&path(id)).await;
    assert_eq!(
        (&both.data()["min_level"], &both.data()["list"]["users"]),
        (&json!(3), &json!(1))
    );
    let everybody = patch(json!({"eligibility": null})).await;
    assert_eq!(everybody.is(200, 0).data()["eligibility"], Value::Null);
    assert_eq!(house.get(&path(id)).await.data()["list"], Value::Null);
    for bad in [
        json!({"min_level": -1}),
        json!({"min_level": "3"}),
        json!({"list": []}),
        json!(3),
    ] {
        patch(json!({"eligibility": bad})).await.is(400, 40000);
    }
}
