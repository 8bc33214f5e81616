//! What answers without being asked by the operator, and what browsers are told.

use http::Method;
use seckill_console::ROUTES;
use serde_json::json;

use crate::access::path;
use crate::house::House;

#[tokio::test]
async fn readiness_metrics_and_the_plain_page_need_no_token() {
    let house = House::new();
    let open = |path: &'static str| house.ask(Method::GET, path).send();
    assert_eq!(open("/readyz").await.is(503, 50300).data()["state"], "starting");
    house.readiness.set_ready();
    assert_eq!(open("/readyz").await.is(200, 0).data()["state"], "ready");
    house.readiness.set_draining();
    assert_eq!(open("/readyz").await.is(503, 50300).data()["state"], "draining");

    let metrics = open("/metrics").await;
    assert_eq!(metrics.header("content-type"), seckill_metrics::CONTENT_TYPE);
    let counted = r#"seckill_http_requests_total{route="/readyz",method="GET",code="503"} 2"#;
    assert!(metrics.text.contains(counted), "{}", metrics.text);

    let page = open("/").await;
    assert_eq!(
        (page.status.as_u16(), page.header("content-type")),
        (200, "text/html; charset=utf-8")
    );
    assert!(!page.text.contains("<script") && !page.text.contains(" style="));
    for route in ROUTES.iter().filter(|route| route.starts_with("/admin")) {
        assert!(page.text.contains(route), "the page does not name {route}");
    }
    assert_eq!(
        open("/style.css").await.header("content-type"),
        "text/css; charset=utf-8"
    );
}

#[tokio::test]
async fn the_description_is_drawn_without_anything_from_elsewhere() {
    let house = House::new();
    for (path, kind) in [
        ("/docs", "text/html; charset=utf-8"),
        ("/docs.js", "text/javascript; charset=utf-8"),
        ("/docs.css", "text/css; charset=utf-8"),
        ("/openapi.json", "application/json"),
    ] {
        let reply = house.ask(Method::GET, path).send().await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("content-type")),
            (200, kind),
            "{path}"
        );
        for foreign in ["https://", "//cdn", "<script>", "style=\"", "innerHTML"] {
            assert!(!reply.text.contains(foreign), "{path} {foreign}");
        }
    }
}

#[tokio::test]
async fn every_named_route_is_one() {
    let house = House::new();
    for route in ROUTES {
        let reply = house.ask(Method::TRACE, &path(route)).operator().send().await;
        reply.is(405, 40500);
    }
}

#[tokio::test]
async fn browsers_are_told_to_run_nothing_else_and_to_show_it_in_no_frame() {
    let house = House::new();
    for path in ["/", "/admin/api/switches", "/nowhere", "/metrics"] {
        let reply = house.get(path).await;
        assert!(
            reply
                .header("content-security-policy")
                .contains("frame-ancestors 'none'")
        );
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        assert_eq!(reply.header("x-frame-options"), "DENY");
        assert!(reply.headers.contains_key("server-time"), "{path}");
    }
}

#[tokio::test]
async fn names_that_look_like_markup_stay_text() {
    let house = House::new();
    let name = "<img src=x onerror=alert(1)></script>' OR 1=1 --";
    let body = json!({"name": name, "price_cents": 1, "currency": "CNY", "stock": 1});
    let reply = house.post("/admin/api/products", body).await;
    assert_eq!(reply.is(201, 0).data()["name"], name);
    assert_eq!(reply.header("content-type"), "application/json");
}
