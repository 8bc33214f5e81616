//! Bodies, ids and tokens of the wrong form. None of them changes anything.

use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};

use crate::house::{House, OPENS};
use crate::pieces::{Pieces, TooSlow};

#[tokio::test]
async fn bodies_of_the_wrong_form_are_refused_and_change_nothing() {
    let house = House::new();
    let id = house.sale(5).await;
    for body in [
        &b"{"[..],
        b"[]",
        b"[1]",
        b"null",
        b"\"x\"",
        b"1",
        b" ",
        b"{} {}",
        b"{}x",
        b"\xef\xbb\xbf{}",
        b"\xff\xfe{\0}\0",
        b"{\"token\":\"\xff\"}",
        br#"{"token":"\ud800"}"#,
        br#"{"quantity":1,"quantity":1}"#,
        br#"{"price":1}"#,
        br#"{"user_id":"b"}"#,
        br#"{"activity_id":2}"#,
        br#"{"Quantity":1}"#,
        br#"{"quantity":0}"#,
        br#"{"quantity":-1}"#,
        br#"{"quantity":-0}"#,
        br#"{"quantity":1.0}"#,
        br#"{"quantity":1.5}"#,
        br#"{"quantity":1e0}"#,
        br#"{"quantity":1e400}"#,
        br#"{"quantity":"1"}"#,
        br#"{"quantity":true}"#,
        br#"{"quantity":null}"#,
        br#"{"quantity":[]}"#,
        br#"{"quantity":NaN}"#,
        br#"{"quantity":01}"#,
        br#"{"quantity":2}"#,
        br#"{"quantity":2147483648}"#,
        br#"{"quantity":9007199254740993}"#,
        br#"{"quantity":9223372036854775808}"#,
        br#"{"quantity":18446744073709551616}"#,
        br#"{"quantity":123456789012345678901234567890}"#,
        br#"{"token":1}"#,
        br#"{"token":"a","token":"a"}"#,
    ] {
        let reply = house.buy(id, "a").json(body).send().await;
        assert_eq!(
            (reply.status.as_u16(), reply.code()),
            (400, 40000),
            "{}",
            body.escape_ascii()
        );
        reply.is(400, 40000);
    }
    assert_eq!(house.left(id), 5);
    assert_eq!(house.result(id, "a").send().await.code(), 40401);
}

#[tokio::test]
async fn bodies_are_json_by_their_header_and_not_compressed() {
    let house = House::new();
    let id = house.sale(5).await;
    house.buy(id, "a").raw("{}").send().await.is(415, 40000);
    for other in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "",
        "json",
    ] {
        house
            .buy(id, "a")
            .header(CONTENT_TYPE.as_str(), other)
            .raw("{}")
            .send()
            .await
            .is(415, 40000);
    }
    let doubled = house
        .buy(id, "a")
        .header(CONTENT_TYPE.as_str(), "text/plain")
        .json("{}");
    doubled.send().await.is(415, 40000);
    house
        .buy(id, "a")
        .json("{}")
        .header(CONTENT_ENCODING.as_str(), "gzip")
        .send()
        .await
        .is(415, 40000);
    assert_eq!(house.left(id), 5);
    let fine = house
        .buy(id, "a")
        .header(CONTENT_TYPE.as_str(), "Application/JSON; charset=utf-8");
    fine.raw("{}").send().await.is(202, 0);
    house
        .buy(id, "b")
        .header(CONTENT_TYPE.as_str(), "text/plain")
        .send()
        .await
        .is(202, 0);
}

#[tokio::test]
async fn large_slow_and_broken_bodies_are_told_apart() {
    let house = House::new();
    let id = house.sale(5).await;
    let padded = |length: usize| format!(r#"{{"token":"{}"}}"#, "x".repeat(length - 12));
    house.buy(id, "a").json(padded(4_097)).send().await.is(413, 40000);
    house
        .buy(id, "a")
        .header("content-length", "9999")
        .json("{}")
        .send()
        .await
        .is(413, 40000);
    let json = |user| house.buy(id, user).header(CONTENT_TYPE.as_str(), "application/json");
    let slow = Pieces::new([Ok(&b"{"[..]), Err(TooSlow)]);
    json("a").pieces(slow).send().await.is(408, 40800);
    let pieces = Pieces::new([Ok(&b"{\"qua"[..]), Ok(b"ntity\""), Ok(b":1}")]);
    json("a").pieces(pieces).send().await.is(202, 0);
    house.buy(id, "b").json(padded(4_096)).send().await.is(202, 0);
    assert_eq!(house.left(id), 3);
}

#[tokio::test]
async fn ids_that_are_no_numbers_are_malformed_and_all_others_unknown() {
    let house = House::new();
    house.sale(5).await;
    for bad in [
        "-1",
        "abc",
        "1e3",
        "1%00",
        "%7B1%7D",
        "%EF%BC%91",
        "01",
        "+1",
        "18446744073709551616",
        "1.0",
        "a%0d%0aSET",
    ] {
        house.buy(bad, "a").send().await.is(400, 40000);
        house.result(bad, "a").send().await.is(400, 40000);
        house.get(format!("/api/activities/{bad}")).send().await.is(400, 40000);
        house
            .get(format!("/api/seckill/events/{bad}"))
            .user("a")
            .send()
            .await
            .is(400, 40000);
    }
    let long = "9".repeat(10_000);
    house.buy(&long, "a").send().await.is(400, 40000);
    for unknown in ["0", "999999", "9007199254740992", "18446744073709551615"] {
        house.buy(unknown, "a").send().await.is(404, 40400);
        house.result(unknown, "a").send().await.is(404, 40400);
        house
            .get(format!("/api/activities/{unknown}"))
            .send()
            .await
            .is(404, 40400);
        house
            .get(format!("/api/seckill/events/{unknown}"))
            .user("a")
            .send()
            .await
            .is(404, 40400);
    }
}

#[tokio::test]
async fn only_one_good_bearer_token_is_an_identity() {
    let house = House::new();
    let id = house.sale(5).await;
    let path = format!("/api/seckill/{id}");
    let good = format!("Bearer {}", house.token("a"));
    for bad in [
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Bearer x",
        &good.replace('.', ""),
        &good[..good.len() - 2],
    ] {
        house
            .post(path.clone())
            .header(AUTHORIZATION.as_str(), bad)
            .send()
            .await
            .is(401, 40100);
    }
    let twice = house.post(path.clone()).header(AUTHORIZATION.as_str(), &good);
    twice.header(AUTHORIZATION.as_str(), &good).send().await.is(400, 40000);
    house
        .post(format!("{path}?token={}", house.token("a")))
        .send()
        .await
        .is(401, 40100);
    house
        .post(path.clone())
        .header("x-user-id", "a")
        .send()
        .await
        .is(401, 40100);
    house.clock.advance(86_400_000);
    house
        .post(path.clone())
        .header(AUTHORIZATION.as_str(), &good)
        .send()
        .await
        .is(401, 40100);
    house.clock.set(OPENS);
    let odd = good.replace("Bearer", "bEARER");
    house
        .post(path)
        .header(AUTHORIZATION.as_str(), odd)
        .send()
        .await
        .is(202, 0);
}
