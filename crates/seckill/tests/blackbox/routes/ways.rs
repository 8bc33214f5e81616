//! The ways to a ticket, as bytes of requests.

use seckill_testkit::{Server, call};
use serde_json::json;

use crate::identity::{SHOP_SECRET, Signing};

/// Who asks for what, from where.
pub(super) struct Wish<'a> {
    pub(super) user: Option<&'a str>,
    pub(super) address: &'a str,
    pub(super) sale: u64,
}

/// A way to a ticket: the bytes of a request.
pub(super) type Way = fn(&Server, &Wish<'_>) -> Vec<u8>;

fn head(line: &str, wish: &Wish<'_>, more: &[String]) -> String {
    let from = format!("X-Forwarded-For: {}", wish.address);
    let lines: Vec<_> = [line, "Host: test", &from]
        .into_iter()
        .map(str::to_owned)
        .chain(more.iter().cloned())
        .collect();
    format!("{}\r\n", lines.join("\r\n"))
}

fn by_token(server: &Server, wish: &Wish<'_>) -> Vec<String> {
    wish.user
        .map(|user| format!("Authorization: Bearer {}", server.token(user)))
        .into_iter()
        .collect()
}

fn by_gateway(_server: &Server, wish: &Wish<'_>) -> Vec<String> {
    wish.user.map(|user| format!("X-User-Id: {user}")).into_iter().collect()
}

fn buy_line(wish: &Wish<'_>) -> String {
    format!("POST /api/seckill/{} HTTP/1.1", wish.sale)
}

const BODY: &str = "Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"quantity\":1}";
const CHUNKS: &str =
    "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\ne\r\n{\"quantity\":1}\r\n0\r\n\r\n";

pub(super) fn bare_with_a_token(server: &Server, wish: &Wish<'_>) -> Vec<u8> {
    format!("{}\r\n", head(&buy_line(wish), wish, &by_token(server, wish))).into()
}

pub(super) fn body_with_a_token(server: &Server, wish: &Wish<'_>) -> Vec<u8> {
    format!("{}{BODY}", head(&buy_line(wish), wish, &by_token(server, wish))).into()
}

pub(super) fn chunks_with_a_token(server: &Server, wish: &Wish<'_>) -> Vec<u8> {
    format!("{}{CHUNKS}", head(&buy_line(wish), wish, &by_token(server, wish))).into()
}

pub(super) fn bare_of_a_gateway(server: &Server, wish: &Wish<'_>) -> Vec<u8> {
    format!("{}\r\n", head(&buy_line(wish), wish, &by_gateway(server, wish))).into()
}

pub(super) fn body_of_a_gateway(server: &Server, wish: &Wish<'_>) -> Vec<u8> {
    format!("{}{BODY}", head(&buy_line(wish), wish, &by_gateway(server, wish))).into()
}

/// The older endpoint. Nobody asks there where header and body name two.
pub(super) fn legacy(server: &Server, wish: &Wish<'_>) -> Vec<u8> {
    let nobody = Wish {
        user: Some(wish.user.unwrap_or("somebody-else")),
        ..*wish
    };
    let body = json!({"activity_id": wish.sale, "user_id": wish.user.unwrap_or("somebody")}).to_string();
    let head = head("POST /seckill HTTP/1.1", wish, &by_gateway(server, &nobody));
    format!(
        "{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into()
}

/// A purchase that the shop signs. Nobody is whoever signs it with another secret.
pub(super) fn signed(server: &Server, wish: &Wish<'_>) -> Vec<u8> {
    let user = wish.user.unwrap_or("somebody");
    let time = call(server.public, "GET", "/api/time", &[], None).expect("answers");
    let signing = Signing {
        at_ms: time.header("Server-Time"),
        nonce: &format!("nonce-of-sixteen-{:032x}", rand::random::<u128>()),
        secret: if wish.user.is_some() { SHOP_SECRET } else { "another" },
    };
    let lines = signing.lines("POST", &format!("/api/seckill/{}", wish.sale), user, "");
    format!("{}\r\n", head(&buy_line(wish), wish, &lines)).into()
}
