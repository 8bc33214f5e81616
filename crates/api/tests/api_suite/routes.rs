//! Paths and methods, those that are there and all others; what is counted of them.

use http::{Method, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::house::House;

#[tokio::test]
async fn what_is_not_there_is_404_in_the_form_of_all_errors() {
    let house = House::new();
    for path in [
        "/nowhere",
        "/admin/api/switches",
        "/admin",
        "/metrics",
        "/api",
        "/api/",
        "/api/time/",
        "/api/seckill",
        "/api/seckill/",
        "/api/seckill/1/",
        "//admin/api/switches",
        "/api/seckill/..%2f..%2fadmin",
        "/api/%61dmin",
    ] {
        for method in [Method::GET, Method::POST] {
            let reply = house.ask(method.clone(), path).user("a").send().await;
            assert!(
                matches!(
                    reply.status,
                    StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::BAD_REQUEST
                ),
                "{method} {path} {reply:?}"
            );
            reply.is(reply.status.as_u16(), reply.code());
        }
    }
    house.get("/admin/api/switches").send().await.is(404, 40401);
}

#[tokio::test]
async fn other_methods_are_405_and_hear_which_there_are() {
    let house = House::new();
    for (method, path, allow) in [
        (Method::GET, "/api/seckill/1", "POST"),
        (Method::DELETE, "/api/seckill/1", "POST"),
        (Method::POST, "/api/time", "GET,HEAD"),
        (Method::PUT, "/api/activities/1", "GET,HEAD"),
        (Method::PATCH, "/api/orders/S1-1-1/pay", "POST"),
        (Method::TRACE, "/healthz", "GET,HEAD"),
    ] {
        let reply = house.ask(method, path).send().await;
        reply.is(405, 40500);
        assert_eq!(reply.header("allow"), allow, "{path}");
    }
}

#[tokio::test]
async fn a_head_request_gets_the_head_of_the_answer() {
    let house = House::new();
    let reply = house.ask(Method::HEAD, "/api/time").send().await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), "application/json");
    assert!(
        reply.headers.get("content-length").is_none(),
        "the server counts what it would send"
    );
}

#[tokio::test]
async fn answers_are_counted_by_route_method_and_status() {
    let house = House::new();
    house.get("/api/time").send().await;
    house.post("/api/seckill/1").send().await;
    house.get("/api/seckill/1").send().await;
    house.get("/nowhere").send().await;
    for (labels, count) in [
        (r#"route="/api/time",method="GET",code="200""#, 1.0),
        (r#"route="/api/seckill/{activity_id}",method="POST",code="401""#, 1.0),
        (r#"route="/api/seckill/{activity_id}",method="GET",code="405""#, 1.0),
        (r#"route="other",method="GET",code="404""#, 1.0),
    ] {
        assert_eq!(
            house.metric(&format!("seckill_http_requests_total{{{labels}}}")),
            count,
            "{labels}"
        );
    }
    assert_eq!(house.metric("seckill_in_flight"), 0.0);
    assert_eq!(
        house.metric(r#"seckill_purchases_total{outcome="unauthenticated"}"#),
        1.0
    );
}

#[tokio::test]
async fn a_panic_is_one_500_with_nothing_but_the_request_id() {
    let house = House::new();
    let storefront =
        axum::Router::new().route("/bug", axum::routing::get(async || -> &'static str { panic!("a bug") }));
    let (_, claims) = seckill_stock::Batcher::new(house.operator.layers().stock.clone(), 1);
    let api = seckill_api::Api::new(seckill_api::CoreState {
        shared: house.shared.clone(),
        purchase: seckill_flow::Purchase::new(house.operator.layers().stock.clone(), claims),
        index: 0,
        storefront: Some(storefront),
    });
    let request = http::Request::get("/bug")
        .body(http_body_util::Empty::new())
        .expect("a request");
    let Ok(response) = api.connection(House::peer(1)).oneshot(request).await;
    assert_eq!(response.status(), 500);
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    assert!(!String::from_utf8_lossy(&body).contains("a bug"));
    let json: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(json["code"], 50000);
    assert_eq!(house.metric("seckill_panics_total"), 1.0);
    assert_eq!(house.metric("seckill_in_flight"), 0.0);
    house.get("/api/time").send().await.is(200, 0);
}

/// A body that panics when it is looked at: it stands for any bug on the way of a purchase that is decided at once.
struct Bug;

impl http_body::Body for Bug {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        std::task::Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        panic!("a bug")
    }
}

#[tokio::test]
async fn a_panic_before_there_is_a_future_is_a_500_too() {
    let house = House::new();
    let request = http::Request::post("/api/seckill/1").body(Bug).expect("a request");
    let Ok(response) = house.api.connection(House::peer(1)).oneshot(request).await;
    assert_eq!(response.status(), 500);
    assert_eq!(house.metric("seckill_panics_total"), 1.0);
    assert_eq!(house.metric("seckill_in_flight"), 0.0);
}
