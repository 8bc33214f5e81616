//! The form of answers, and what a broken database looks like from outside.

use http::Method;
use serde_json::json;

use crate::house::{House, product};

#[tokio::test]
async fn errors_are_problems_with_the_members_of_all_answers() {
    let house = House::new();
    let reply = house.get("/admin/api/activities/7").await;
    reply.is(404, 40400);
    assert_eq!(reply.header("content-type"), "application/problem+json");
    assert_eq!(
        (&reply.json["type"], &reply.json["status"]),
        (&json!("/api/codes#40400"), &json!(404))
    );
    let mut members: Vec<_> = reply
        .json
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    members.sort_unstable();
    assert_eq!(
        members,
        [
            "code",
            "data",
            "detail",
            "message",
            "request_id",
            "status",
            "title",
            "type"
        ]
    );
}

#[tokio::test]
async fn request_ids_are_taken_over_and_messages_follow_the_reader_s_language() {
    let house = House::new();
    for (language, ascii) in [("en", true), ("zh-CN", false)] {
        let request = house.ask(Method::GET, "/admin/api/switches").operator();
        let reply = request
            .header("x-request-id", "ops-1")
            .header("accept-language", language)
            .send()
            .await;
        assert_eq!(reply.is(200, 0).json["request_id"], "ops-1");
        assert_eq!(reply.json["message"].as_str().expect("a message").is_ascii(), ascii);
    }
}

#[tokio::test]
async fn locked_database_is_503_and_nothing_is_changed() {
    let house = House::new();
    let lock = rusqlite::Connection::open(&house.database).expect("the database");
    lock.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let english = house.ask(Method::POST, "/admin/api/products").operator();
    let reply = english.header("accept-language", "en").json(&product()).send().await;
    assert_eq!(reply.is(503, 50300).data()["layer"], "database");
    assert_eq!(
        reply.json["message"],
        "The database cannot be used now; nothing was changed"
    );
    house
        .patch("/admin/api/switches", json!({"backlog_max": 7}))
        .await
        .is(503, 50300);
    assert_eq!(
        house.gate.switches().backlog_max,
        200_000,
        "what the ledger does not have is not in force"
    );
    lock.execute_batch("ROLLBACK").expect("unlocked");
    house.post("/admin/api/products", product()).await.is(201, 0);
    assert_eq!(house.actions().await, ["product.create"]);
}

#[tokio::test]
async fn stopped_store_is_503_and_the_ledger_s_word_stands() {
    let house = House::new();
    let id = house.opened(3).await;
    house.store.close();
    let reply = house
        .post(&format!("/admin/api/activities/{id}/pause"), json!({}))
        .await;
    assert_eq!(reply.status.as_u16(), 503, "{reply:?}");
    let shown = house.get(&format!("/admin/api/activities/{id}")).await;
    assert_eq!(shown.is(200, 0).data()["status"], "paused");
}
