//! The form of answers, whatever they say.

use http::StatusCode;

use crate::house::{House, OPENS};

#[tokio::test]
async fn a_good_answer_has_four_members() {
    let house = House::new();
    let reply = house.get("/api/time").send().await;
    reply.is(200, 0);
    let mut members: Vec<_> = reply.json.as_object().expect("an object").keys().cloned().collect();
    members.sort_unstable();
    assert_eq!(members, ["code", "data", "message", "request_id"]);
    assert_eq!(reply.data()["server_time"], OPENS.0);
    assert_eq!(reply.header("server-time"), OPENS.0.to_string());
    assert_eq!(reply.header("cache-control"), "no-store");
}

#[tokio::test]
async fn an_error_is_a_problem_with_the_same_members() {
    let house = House::new();
    let reply = house.post("/api/seckill/1").send().await;
    reply.is(401, 40100);
    assert_eq!(reply.json["type"], "/api/codes#40100");
    assert!(reply.data().is_null());
    assert_eq!(reply.header("cache-control"), "no-store");
}

#[tokio::test]
async fn a_well_formed_request_id_is_taken_over() {
    let house = House::new();
    let long = "x".repeat(128);
    for id in ["a", "A.z_0-9", &long] {
        let reply = house.get("/api/time").header("x-request-id", id).send().await;
        assert_eq!(reply.header("x-request-id"), id);
        assert_eq!(reply.json["request_id"], id);
    }
    let long = "x".repeat(129);
    for id in ["", "a b", "\"", "ü", "<b>", &long] {
        let reply = house.get("/api/time").header("x-request-id", id).send().await;
        assert_eq!(reply.header("x-request-id").len(), 16, "{id:?}");
    }
}

#[tokio::test]
async fn messages_follow_the_reader_s_language() {
    let house = House::new();
    for (language, ascii) in [
        ("en", true),
        ("zh-CN", false),
        ("fr", false),
        ("en;q=0.2,zh;q=0.1", true),
    ] {
        let refused = house
            .post("/api/seckill/1")
            .header("accept-language", language)
            .send()
            .await;
        let fine = house.get("/api/time").header("accept-language", language).send().await;
        for reply in [refused, fine] {
            assert_eq!(
                reply.json["message"].as_str().expect("a message").is_ascii(),
                ascii,
                "{language}"
            );
        }
    }
}

#[tokio::test]
async fn an_unknown_path_is_not_told_about_tickets() {
    let house = House::new();
    for (language, sentence) in [
        ("en", "What was asked for was not found"),
        ("zh", "没有找到所请求的内容"),
    ] {
        let reply = house.get("/nowhere").header("accept-language", language).send().await;
        assert_eq!((reply.code(), &reply.json["message"]), (40401, &sentence.into()));
        assert_eq!(reply.json["detail"], "nothing is at this path");
    }
}

#[tokio::test]
async fn health_says_alive_and_readiness_follows_the_process() {
    let house = House::new();
    house.get("/healthz").send().await.is(200, 0);
    house.get("/readyz").send().await.is(503, 50300);
    house.readiness.set_ready();
    house.get("/readyz").send().await.is(200, 0);
    house.readiness.set_draining();
    let reply = house.get("/readyz").send().await;
    assert_eq!(reply.is(503, 50300).data()["state"], "draining");
}

#[tokio::test]
async fn the_listener_s_own_answers_have_the_form_of_all_others() {
    let house = House::new();
    let answers = house.shared.error_answers();
    for (status, code) in [(400, 40000), (408, 40800), (414, 40000), (431, 43100)] {
        let response = answers(StatusCode::from_u16(status).expect("a status"));
        let json: serde_json::Value = serde_json::from_slice(response.body()).expect("JSON");
        assert_eq!(
            (response.status().as_u16(), json["code"].as_u64()),
            (status, Some(code))
        );
        assert_eq!(json["status"], status);
        assert!(response.headers().contains_key("server-time"));
        assert_eq!(
            response.headers()["x-request-id"],
            json["request_id"].as_str().expect("an id")
        );
    }
}
