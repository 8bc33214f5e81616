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
    house
        .buy(id, "a")
        .header("origin", "http://127.0.0.1:8080")
        .send()
        .await
        .is(202, 0);
}
