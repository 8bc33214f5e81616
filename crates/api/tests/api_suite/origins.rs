//! Pages of other origins.

use http::Method;

use crate::house::House;
use crate::plan::Plan;

const SHOP: &str = "https://shop.example.com";

fn house() -> House {
    House::with(&Plan {
        allowed_origins: vec![SHOP.to_owned()],
        ..Plan::default()
    })
}

#[tokio::test]
async fn a_listed_origin_may_ask_and_read() {
    let house = house();
    let id = house.sale(2).await;
    let preflight = house
        .ask(Method::OPTIONS, format!("/api/seckill/{id}"))
        .header("origin", SHOP);
    let preflight = preflight.header("access-control-request-method", "POST").send().await;
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-origin"), SHOP);
    assert!(
        preflight
            .header("access-control-allow-headers")
            .contains("authorization")
    );
    assert_eq!(preflight.header("access-control-allow-credentials"), "");
    let bought = house.buy(id, "a").header("origin", SHOP).send().await;
    bought.is(202, 0);
    assert_eq!(bought.header("access-control-allow-origin"), SHOP);
    assert!(bought.header("access-control-expose-headers").contains("server-time"));
    let page = house.get("/api/activities").send().await;
    assert!(page.header("vary").contains("origin"));
}

#[tokio::test]
async fn a_foreign_page_can_neither_write_nor_read() {
    let house = house();
    let id = house.sale(2).await;
    for origin in [
        "https://evil.example.com",
        "null",
        "http://shop.example.com",
        "https://shop.example.com.evil.com",
    ] {
        house.buy(id, "a").header("origin", origin).send().await.is(403, 40302);
        let preflight = house.ask(Method::OPTIONS, "/api/orders").header("origin", origin);
        preflight
            .header("access-control-request-method", "GET")
            .send()
            .await
            .is(403, 40302);
        let read = house.get("/api/activities").header("origin", origin).send().await;
        assert_eq!(read.is(200, 0).header("access-control-allow-origin"), "");
    }
    assert_eq!(house.left(id), 2);
    let counted = house.metric("seckill_purchases_total{outcome=\"foreign_origin\"}");
    assert!(
        (counted - 4.0).abs() < f64::EPSILON,
        "the purchases, not the reads: {counted}"
    );
    house
        .buy(id, "a")
        .header("origin", "http://127.0.0.1:8080")
        .send()
        .await
        .is(202, 0);
}

#[tokio::test]
async fn every_write_that_the_document_knows_is_refused_to_a_foreign_page_and_says_so() {
    let house = house();
    let document = house.get("/openapi.json").send().await;
    let paths = document.json["paths"].as_object().expect("paths");
    let writes: Vec<_> = paths
        .iter()
        .filter_map(|(path, methods)| Some((path, methods.get("post")?)))
        .collect();
    assert_eq!(writes.len(), 6, "{writes:?}");
    for (path, write) in writes {
        let asked = path.replace("{activity_id}", "1").replace("{order_no}", "S1-1-1");
        let refused = house
            .post(&asked)
            .header("origin", "https://evil.example.com")
            .send()
            .await;
        refused.is(403, 40302);
        let said = write["responses"]["403"]["description"].as_str().unwrap_or_default();
        assert!(said.contains("40302"), "{path}: {said}");
    }
}
