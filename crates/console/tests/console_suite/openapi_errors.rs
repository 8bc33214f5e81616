//! The description against errors: each is said of its operation, with its code.

use http::Method;
use serde_json::json;

use crate::house::{House, product, with};
use crate::openapi_night::Night;
use crate::request::Reply;

#[tokio::test]
async fn every_operation_describes_the_errors_that_all_of_its_kind_have() {
    let mut night = Night::new().await;
    for (at, operation) in night.document.operations().into_iter().enumerate() {
        if !operation.route.starts_with("/admin") {
            continue;
        }
        let path = operation.route.replace("{id}", "7");
        let (method, route) = (operation.method, operation.route);
        let client = format!("10.0.{at}.1");
        let stranger = night.house.ask(method.clone(), &path).from(&client).send().await;
        night.check(&method, &route, &stranger);
        if route.contains("{id}") {
            for id in ["x", "7", "9007199254740993"] {
                let reply = night
                    .house
                    .ask(method.clone(), &route.replace("{id}", id))
                    .operator()
                    .send()
                    .await;
                night.check(&method, &route, &reply);
            }
        }
        if method == Method::GET {
            continue;
        }
        let ask = || night.house.ask(method.clone(), &path).operator();
        let replies = [
            ask().header("origin", "https://evil.example").send().await,
            ask().bytes(b"{}").send().await,
            ask()
                .header("content-type", "application/json")
                .bytes(&[b' '; 70_000])
                .send()
                .await,
            ask().json(&json!({"strange": 0})).send().await,
        ];
        // A list of users may be longer than anything else that is sent.
        let is_list = method == Method::PUT;
        let expect = [403, 415, if is_list { 400 } else { 413 }, 400];
        for (reply, status) in replies.iter().zip(expect) {
            assert_eq!(reply.status.as_u16(), status, "{method} {route}: {reply:?}");
            night.check(&method, &route, reply);
        }
    }
}

/// A product of this name, always under the same key.
async fn named(house: &House, name: &str) -> Reply {
    let request = house.ask(Method::POST, "/admin/api/products").operator();
    let body = with(product(), "name", json!(name));
    request.header("idempotency-key", "k").json(&body).send().await
}

#[tokio::test]
async fn every_operation_describes_a_database_that_is_locked_and_a_key_that_was_used() {
    let mut night = Night::new().await;
    let post = Method::POST;
    let first = named(&night.house, "one").await;
    night.check(&post, "/admin/api/products", first.is(201, 0));
    let other = named(&night.house, "two").await;
    night.check(&post, "/admin/api/products", other.is(422, 42200));
    let lock = rusqlite::Connection::open(&night.house.database).expect("the database");
    lock.execute_batch("BEGIN IMMEDIATE").expect("locked");
    night.post("/admin/api/products", 0, product()).await.is(503, 50300);
}

#[tokio::test]
async fn the_listed_codes_are_those_of_the_operator_s_errors() {
    let night = Night::new().await;
    let listed = night.document.codes().as_array().expect("codes");
    // Refusals of buyers are matters of the public port.
    let foreign = [40001, 40002, 40004, 40005, 40006, 40300, 40301, 50301];
    let codes = seckill_sale::Code::ALL.iter().map(|code| code.number());
    let expect: Vec<_> = codes
        .filter(|number| !foreign.contains(number))
        .map(|number| json!(number))
        .collect();
    assert_eq!(*listed, expect);
}
