//! Bodies, paths and queries of the wrong form, whatever they ask.

use http::Method;
use serde_json::json;

use crate::house::{House, activity, product, with};

#[tokio::test]
async fn bodies_are_one_json_object_without_doubled_members() {
    let house = House::new();
    for body in [
        &b"{"[..],
        b"[]",
        b"null",
        b"\"x\"",
        b"{} {}",
        b"\xef\xbb\xbf{}",
        b"\xff\xfe",
        b"{\"name\":\"\\ud800\"}",
        b"{\"name\":\"a\",\"name\":\"b\",\"price_cents\":1,\"currency\":\"CNY\",\"stock\":1}",
        b"{\"name\":NaN}",
        b"",
        b"[\"a\",1,\"CNY\",1]",
    ] {
        let request = house.ask(Method::POST, "/admin/api/products").operator();
        let reply = request
            .header("content-type", "application/json")
            .bytes(body)
            .send()
            .await;
        reply.is(400, 40000);
    }
    let large = house.ask(Method::POST, "/admin/api/products").operator();
    let large = large.json(&with(product(), "name", json!("x".repeat(70_000))));
    large.send().await.is(413, 40000);
    let deep = "[".repeat(60_000);
    let deep = house
        .ask(Method::POST, "/admin/api/products")
        .operator()
        .bytes(deep.as_bytes());
    deep.header("content-type", "application/json")
        .send()
        .await
        .is(400, 40000);
    assert_eq!(house.actions().await, [""; 0]);
}

#[tokio::test]
async fn ids_in_paths_are_plain_numbers() {
    let house = House::new();
    for id in [
        "-1",
        "+1",
        "01",
        "abc",
        "1e3",
        "1%00",
        "%31",
        "%EF%BC%91",
        "18446744073709551616",
        "1.0",
        "%7B1%7D",
        "a%0d%0ab",
    ] {
        house.get(&format!("/admin/api/activities/{id}")).await.is(400, 40000);
        let reply = house
            .post(&format!("/admin/api/activities/{id}/preheat"), json!({}))
            .await;
        assert_eq!(reply.is(400, 40000).data()["field"], "id");
    }
    for id in ["0", "999999", "9007199254740992", "18446744073709551615"] {
        for path in ["", "/audit", "/movements"] {
            house
                .get(&format!("/admin/api/activities/{id}{path}"))
                .await
                .is(404, 40400);
        }
        for action in ["preheat", "pause", "resume", "close", "reconcile", "recover"] {
            house
                .post(&format!("/admin/api/activities/{id}/{action}"), json!({}))
                .await
                .is(404, 40400);
        }
        let more = json!({"quantity": 1});
        house
            .post(&format!("/admin/api/activities/{id}/add-stock"), more)
            .await
            .is(404, 40400);
        house
            .patch(&format!("/admin/api/activities/{id}"), json!({}))
            .await
            .is(404, 40400);
        house
            .post(&format!("/admin/api/dead-letters/{id}/retry"), json!({}))
            .await
            .is(404, 40401);
        let why = json!({"reason": "x"});
        house
            .post(&format!("/admin/api/dead-letters/{id}/discard"), why)
            .await
            .is(404, 40401);
        house
            .patch(&format!("/admin/api/schedules/{id}"), json!({"enabled": true}))
            .await
            .is(404, 40401);
        let block = house.ask(Method::DELETE, &format!("/admin/api/blocks/{id}")).operator();
        block.send().await.is(404, 40401);
    }
    house
        .post("/admin/api/activities", activity(77, 1))
        .await
        .is(404, 40401);
    assert_eq!(house.actions().await, [""; 0]);
}

#[tokio::test]
async fn queries_take_what_they_name_and_cursors_only_of_their_list() {
    let house = House::new();
    let lists = [
        "products",
        "activities",
        "orders",
        "dead-letters",
        "blocks",
        "schedules",
        "audit-rows",
    ];
    for list in lists {
        house.get(&format!("/admin/api/{list}?limit=500")).await.is(200, 0);
        for query in [
            "limit=0",
            "limit=501",
            "limit=x",
            "limit=1&limit=2",
            "sort=name",
            "cursor=%27%20OR%201",
            "cursor=",
            "limit=%31%00",
        ] {
            house.get(&format!("/admin/api/{list}?{query}")).await.is(400, 40000);
        }
    }
    let unknown = house.get("/admin/api/blocks?sort=name").await;
    assert_eq!(unknown.is(400, 40000).data()["field"], "sort");
    let detail = unknown.json["detail"].as_str();
    assert_eq!(detail, Some("sort: there is no such member; there are limit, cursor"));
    let doubled = house.get("/admin/api/blocks?limit=1&limit=2").await;
    assert_eq!(doubled.is(400, 40000).json["detail"], "limit: stands there twice");
    for query in [
        "activity_id=0",
        "activity_id=x",
        "activity_id=1%20OR%201",
        "user_id=a%20b",
        "user_id=%25",
    ] {
        house.get(&format!("/admin/api/orders?{query}")).await.is(400, 40000);
    }
}
