//! Live figures: of this node, of all of them, bounded, and over when the server stops.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::Request;
use seckill_console::{Connection, router};
use seckill_engine_redis::{Engine, Options};
use seckill_metrics::{Core, Outcome};
use seckill_stock::Members;
use seckill_testkit::Redis;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::house::{House, NOW, TOKEN};
use crate::openapi_document::Document;
use crate::request::next_piece;

async fn opened(router: &Router, path: &str) -> Body {
    let request = Request::get(path).header("authorization", format!("Bearer {TOKEN}"));
    let request = request.body(Body::empty()).expect("a request");
    let connection = Connection::new(router.clone(), Ipv4Addr::LOCALHOST.into());
    let (head, body) = connection.oneshot(request).await.expect("never fails").into_parts();
    assert_eq!(
        (head.status.as_u16(), &head.headers["content-type"]),
        (200, &"text/event-stream".parse().expect("a value"))
    );
    assert!(
        head.headers.contains_key("server-time") && head.headers.contains_key("x-request-id"),
        "{head:?}"
    );
    body
}

fn text(piece: Option<Bytes>) -> String {
    String::from_utf8(piece.expect("a piece").to_vec()).expect("UTF-8")
}

/// The first event of a stream.
async fn event(router: &Router, path: &str) -> Value {
    let mut body = opened(router, path).await;
    assert_eq!(text(next_piece(&mut body).await), ": live\nretry: 2000\n\n");
    data(&text(next_piece(&mut body).await))
}

fn data(event: &str) -> Value {
    let data = event
        .strip_prefix("event: live\ndata: ")
        .and_then(|rest| rest.strip_suffix("\n\n"));
    serde_json::from_str(data.unwrap_or_else(|| panic!("{event}"))).expect("JSON")
}

/// Half a second in which these purchases ended.
fn half_a_second(house: &House, id: u64, ended: &[(Outcome, u64)]) {
    house.console.sample();
    for (outcome, times) in ended {
        (0..*times).for_each(|_| house.metrics.purchases.inc(Core::OTHER, id, *outcome));
    }
    house.clock.advance(500);
    house.console.sample();
    house.beat();
}

#[tokio::test]
async fn an_event_shows_the_sale_the_backlog_and_the_node_as_described() {
    let house = House::new();
    let id = house.opened(10).await;
    house.claim(id, "a").await.expect("a unit");
    half_a_second(&house, id, &[(Outcome::Accepted, 1), (Outcome::SoldOut, 50)]);
    let live = event(&house.router, "/admin/api/live").await;
    let schema = json!({"$ref": "#/components/schemas/Live"});
    assert_eq!(
        Document::of(&house).await.misfits(&schema, &live, "live"),
        Vec::<String>::new()
    );
    assert_eq!(live["outcomes_per_s"], json!({"accepted": 2.0, "sold_out": 100.0}));
    assert_eq!(live["backlog"], json!({"tickets": 1, "oldest_ms": 500, "dead": 0}));
    assert_eq!(
        (&live["store"]["up"], &live["database"]["up"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(
        (&live["workers"]["running"], &live["scheduler"]),
        (&json!(2), &json!("node-1"))
    );
    let sale = &live["activities"][0];
    assert_eq!(
        (&sale["id"], &sale["stock_left"], &sale["phase"]),
        (&json!(id), &json!(9), &json!("open"))
    );
    assert_eq!(sale["outcomes_per_s"], live["outcomes_per_s"]);
    assert_eq!(live["nodes"][0]["id"], "node-1");
}

#[tokio::test]
async fn one_activity_can_be_asked_for_and_an_unknown_one_is_refused() {
    let house = House::new();
    let first = house.opened(10).await;
    let second = house.opened(20).await;
    assert_eq!(
        event(&house.router, "/admin/api/live").await["activities"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    let live = event(&house.router, &format!("/admin/api/live?activity={second}")).await;
    assert_eq!(
        (
            &live["activities"][0]["id"],
            live["activities"].as_array().map(Vec::len)
        ),
        (&json!(second), Some(1))
    );
    assert_ne!(first, second);
    for (query, status, code) in [
        ("activity=999", 404, 40400),
        ("activity=x", 400, 40000),
        ("activities=1", 400, 40000),
    ] {
        house.get(&format!("/admin/api/live?{query}")).await.is(status, code);
    }
}

#[tokio::test]
async fn streams_are_bounded_and_a_closed_one_makes_room() {
    let house = House::new();
    let mut open = Vec::new();
    for _ in 0..32 {
        open.push(opened(&house.router, "/admin/api/live").await);
    }
    house.get("/admin/api/live").await.is(429, 42901);
    open.pop();
    drop(opened(&house.router, "/admin/api/live").await);
}

#[tokio::test]
async fn streams_say_goodbye_when_the_server_stops() {
    let house = House::new();
    let mut body = opened(&house.router, "/admin/api/live").await;
    let _hello = next_piece(&mut body).await;
    house.shutdown.cancel();
    assert!(text(next_piece(&mut body).await).starts_with(": the server is stopping"));
    assert_eq!(next_piece(&mut body).await, None);
}

#[tokio::test]
async fn figures_of_two_nodes_on_one_redis_are_added_up() {
    let house = House::new();
    let redis = Redis::start();
    let id = house.opened(10).await;
    let mut nodes = Vec::new();
    for (name, sold_out) in [("x", 30), ("y", 70)] {
        let options = Options {
            answer_within: Duration::from_secs(20),
            connect_within: Duration::from_secs(20),
            ..Options::new(redis.url(), name.to_owned())
        };
        let members: Arc<dyn Members> = Arc::new(Engine::connect(options).await.expect("connected"));
        let (gate, console, metrics) = house.another_node(members, name).await;
        gate.catalogue().replace(house.gate.catalogue().all().values().cloned());
        nodes.push((console, metrics, sold_out));
    }
    for (console, ..) in &nodes {
        console.sample();
    }
    for (console, metrics, sold_out) in &nodes {
        (0..*sold_out).for_each(|_| metrics.purchases.inc(Core::OTHER, id, Outcome::SoldOut));
        let took = Duration::from_micros(if *sold_out == 70 { 900 } else { 90 });
        let route = metrics.http_requests.route("/api/seckill/{activity_id}");
        (0..*sold_out).for_each(|_| metrics.answered(Core::OTHER, route, "POST", 410, took));
        house.clock.set(NOW.plus(1_000));
        console.sample();
        console
            .beat(seckill_sale::Clock::now(&seckill_sale::SystemClock))
            .await
            .expect("heard");
    }
    for (console, ..) in &nodes {
        let live = event(&router(console.clone()), "/admin/api/live").await;
        assert_eq!(live["outcomes_per_s"], json!({"sold_out": 100.0}));
        assert_eq!(live["activities"][0]["outcomes_per_s"], json!({"sold_out": 100.0}));
        assert_eq!(
            (&live["requests_per_s"], &live["workers"]["running"]),
            (&json!(100.0), &json!(4))
        );
        assert_eq!(live["latency"], json!({"p50_us": 1_000, "p99_us": 1_000}));
        assert_eq!(live["nodes"].as_array().map(Vec::len), Some(2));
    }
}
