//! Who may call, and how.

use http::Method;
use seckill_console::ROUTES;

use crate::house::{House, TOKEN, product};

/// A path of a route, with an id where it has one.
pub(crate) fn path(route: &str) -> String {
    route.replace("{id}", "1")
}

#[tokio::test]
async fn nothing_of_the_api_answers_without_the_operator_s_token() {
    let house = House::new();
    let user_token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIiwiZXhwIjo5OTk5OTk5OTk5fQ.AAAA";
    let wrong = [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Bearer {user_token}"),
        format!("Bearer {TOKEN}x"),
        format!("Bearer {}", &TOKEN[1..]),
        format!("Basic {TOKEN}"),
        TOKEN.to_owned(),
    ];
    for route in ROUTES.iter().filter(|route| route.starts_with("/admin")) {
        for method in [Method::GET, Method::POST, Method::PATCH, Method::DELETE] {
            let reply = house.ask(method.clone(), &path(route)).send().await;
            let refused = matches!(reply.json["code"].as_u64(), Some(40100 | 40500 | 40003));
            assert!(refused, "{method} {route}: {reply:?}");
        }
    }
    for (n, authorization) in wrong.iter().enumerate() {
        let request = house
            .ask(Method::GET, "/admin/api/switches")
            .from(&format!("10.0.0.{n}"));
        let reply = request.header("authorization", authorization).send().await;
        assert_eq!(reply.is(401, 40100).header("www-authenticate"), "Bearer");
    }
    let twice = house.ask(Method::GET, "/admin/api/switches").from("10.0.1.1");
    twice
        .operator()
        .header("authorization", "Bearer x")
        .send()
        .await
        .is(400, 40000);
    let in_query = house
        .ask(Method::GET, &format!("/admin/api/switches?token={TOKEN}"))
        .from("10.0.1.2");
    in_query.send().await.is(401, 40100);
    house.get("/admin/api/switches").await.is(200, 0);
}

#[tokio::test]
async fn wrong_tokens_cost_their_address_a_wait_and_the_right_one_is_let_in() {
    let house = House::new();
    let guess = |client: &'static str| {
        let request = house.ask(Method::GET, "/admin/api/switches").from(client);
        request.header("authorization", "Bearer guess").send()
    };
    for _ in 0..20 {
        guess("10.0.0.1").await.is(401, 40100);
    }
    assert_eq!(guess("10.0.0.1").await.is(429, 40003).data()["scope"], "ip");
    guess("10.0.0.2").await.is(401, 40100);
    let right = house
        .ask(Method::GET, "/admin/api/switches")
        .from("10.0.0.1")
        .operator();
    right.send().await.is(200, 0);
    house.clock.advance(1_000);
    guess("10.0.0.1").await.is(401, 40100);
    guess("10.0.0.1").await.is(429, 40003);
}

#[tokio::test]
async fn pages_of_foreign_origins_may_not_write() {
    let house = House::new();
    for origin in ["https://evil.example.com", "null", "http://127.0.0.1:8080"] {
        let write = house
            .ask(Method::POST, "/admin/api/products")
            .operator()
            .header("origin", origin);
        write.json(&product()).send().await.is(403, 40302);
    }
    let cross = house
        .ask(Method::POST, "/admin/api/products")
        .operator()
        .header("sec-fetch-site", "cross-site");
    cross.json(&product()).send().await.is(403, 40302);
    assert_eq!(house.actions().await, [""; 0]);
    let own = house
        .ask(Method::POST, "/admin/api/products")
        .operator()
        .header("origin", "http://127.0.0.1:8081");
    own.json(&product()).send().await.is(201, 0);
}

#[tokio::test]
async fn forms_and_texts_are_no_bodies() {
    let house = House::new();
    let text = product().to_string();
    for media_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonx",
        "",
    ] {
        let write = house
            .ask(Method::POST, "/admin/api/products")
            .operator()
            .header("content-type", media_type);
        write.bytes(text.as_bytes()).send().await.is(415, 40000);
    }
    let without = house.ask(Method::POST, "/admin/api/products").operator();
    without.bytes(text.as_bytes()).send().await.is(415, 40000);
    let packed = house
        .ask(Method::POST, "/admin/api/products")
        .operator()
        .header("content-encoding", "gzip");
    packed.json(&product()).send().await.is(415, 40000);
    let charset = house.ask(Method::POST, "/admin/api/products").operator();
    let charset = charset
        .header("content-type", "Application/JSON; charset=utf-8")
        .bytes(text.as_bytes());
    charset.send().await.is(201, 0);
}

#[tokio::test]
async fn method_override_headers_and_odd_paths_lead_nowhere() {
    let house = House::new();
    for path in [
        "/admin",
        "/admin/",
        "/admin/api",
        "/admin/api/",
        "/admin/api/products/",
        "//admin/api/products",
        "/admin/api/products.",
        "/admin/%61pi/products",
        "/admin/../api",
        "/api/activities",
        "/nowhere",
        "/admin/api/activities/1/",
        "/admin/api/activities/1/nowhere",
        "/debug/pprof",
    ] {
        house.get(path).await.is(404, 40401);
        house.ask(Method::GET, path).send().await.is(404, 40401);
    }
    for method in [Method::OPTIONS, Method::TRACE, Method::PUT, Method::DELETE] {
        let reply = house.ask(method, "/admin/api/products").operator().send().await;
        assert!(reply.is(405, 40500).header("allow").contains("POST"));
    }
    let reply = house.ask(Method::POST, "/admin/api/products").operator();
    reply
        .header("x-http-method-override", "GET")
        .send()
        .await
        .is(400, 40000);
}
