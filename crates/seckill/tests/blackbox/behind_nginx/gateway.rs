//! nginx as it is shipped in front of nodes that believe what it says of a buyer: through it nobody says that himself.

use seckill_testkit::{Server, Wire, call};
use serde_json::json;

use super::Front;
use crate::program;

/// Nodes that take every user's name from their proxy.
const GATEWAY: &[(&str, &str)] = &[
    ("SECKILL_SERVER__TRUSTED_PROXIES", "127.0.0.0/8"),
    ("SECKILL_AUTH__MODE", "gateway"),
];

/// Ways to write the path of the route that has its buyer in the body, and paths that only look like it.
const SPELLINGS: [&str; 16] = [
    "/seckill",
    "/seckill?activity_id=1",
    "/seckill#top",
    "/seckill/",
    "/seckill//",
    "//seckill",
    "/./seckill",
    "/api/../seckill",
    "/%73eckill",
    "/%73%65%63%6B%69%6c%6c",
    "/%2fseckill",
    "/seckill%2f",
    "/seckill%23",
    "/SECKILL",
    "/seckill;a=b",
    "http://test/seckill",
];

#[test]
fn nobody_names_a_buyer_in_the_body_through_nginx_however_he_writes_the_path() {
    let server = Server::start_with(&program(), GATEWAY);
    let activity = server.sale(40, &json!({}));
    let front = Front::of([server.public; 2], &[]);
    let named = |user: &str| json!({"activity_id": activity, "user_id": user}).to_string();
    let by_the_gateway = call(server.public, "POST", "/seckill", &[], Some(&named("hers"))).expect("answers");
    assert_eq!(by_the_gateway.status, 202, "the node believes it: {by_the_gateway:?}");
    for (at, path) in SPELLINGS.iter().enumerate() {
        let body = named(&format!("victim-{at}"));
        let mut wire = Wire::open(front.address).expect("it listens");
        wire.send(format!(
            "POST {path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .expect("sent");
        let refused = wire.answer().expect("answered");
        assert_eq!((refused.status, refused.code()), (404, 40_401), "{path}: {refused:?}");
        assert_eq!(refused.header("content-type"), "application/problem+json", "{path}");
        assert_eq!(refused.header("x-request-id"), refused.json["request_id"], "{path}");
    }
    let books = server.settled(activity);
    assert_eq!(books["accepted"], json!(1), "only whom the gateway named: {books}");
}

#[test]
fn nobody_names_a_buyer_in_a_header_through_nginx() {
    let server = Server::start_with(&program(), GATEWAY);
    let activity = server.sale(10, &json!({}));
    let front = Front::of([server.public; 2], &[]);
    for header in ["X-User-Id: victim", "x-user-id: victim", "X_User_Id: victim"] {
        let path = format!("/api/seckill/{activity}");
        let refused = call(front.address, "POST", &path, &[header.to_owned()], None).expect("answers");
        assert_eq!((refused.status, refused.code()), (401, 40_100), "{header}: {refused:?}");
    }
}
