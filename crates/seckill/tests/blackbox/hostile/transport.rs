//! B-38 to B-40: request lines, other protocols.

use super::stage::{Stage, request};
use super::{Row, last, row};

pub(super) fn rows(stage: &Stage) -> Vec<Row> {
    let mut rows = lines(stage);
    rows.extend(targets(stage));
    rows.extend(protocols(stage));
    rows
}

/// Request lines and hosts.
fn lines(stage: &Stage) -> Vec<Row> {
    let bearer = stage.bearer();
    let result = stage.result_path();
    let get = |line: &str, hosts: &str| format!("{line}\r\n{hosts}{bearer}\r\n\r\n");
    let plain = format!("GET {result} HTTP/1.1");
    vec![
        last("B-39 no host", get(&plain, ""), 400, 40_000),
        last("B-39 two hosts", get(&plain, "Host: a\r\nHost: b\r\n"), 400, 40_000),
        last("B-39 an empty host", get(&plain, "Host:\r\n"), 400, 40_000),
        last("B-39 a host with a path", get(&plain, "Host: a/b\r\n"), 400, 40_000),
        last(
            "B-39 no version",
            get(&format!("GET {result}"), "Host: a\r\n"),
            400,
            40_000,
        ),
        last(
            "B-39 a version of its own",
            get(&format!("GET {result} HTTP/1.2"), "Host: a\r\n"),
            400,
            40_000,
        ),
        last(
            "B-39 a path with a space",
            get("GET /a b HTTP/1.1", "Host: a\r\n"),
            400,
            40_000,
        ),
        last("B-39 bare LF", format!("{plain}\nHost: a\n{bearer}\n\n"), 400, 40_000),
        last(
            "B-39 TLS",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(),
            400,
            40_000,
        ),
    ]
}

/// What is asked for.
fn targets(stage: &Stage) -> Vec<Row> {
    let (bearer, result) = (stage.bearer(), stage.result_path());
    let get = |line: &str, hosts: &str| format!("{line}\r\n{hosts}{bearer}\r\n\r\n");
    let mut rows = vec![
        row(
            "B-39 an absolute URI",
            get(&format!("GET http://evil.example{result} HTTP/1.1"), "Host: a\r\n"),
            404,
            40_401,
        ),
        row(
            "B-39 a path of admin in an absolute URI",
            get("GET http://127.0.0.1/admin/api/switches HTTP/1.1", "Host: a\r\n"),
            404,
            40_401,
        ),
        row(
            "B-39 CONNECT",
            get("CONNECT evil.example:443 HTTP/1.1", "Host: a\r\n"),
            405,
            40_500,
        ),
        row(
            "B-39 CONNECT to a path",
            get("CONNECT /api/time HTTP/1.1", "Host: a\r\n"),
            405,
            40_500,
        ),
        row(
            "B-39 the server as a whole",
            get("OPTIONS * HTTP/1.1", "Host: a\r\n"),
            404,
            40_401,
        ),
    ];
    // The body of a GET is no next request.
    let body = String::from_utf8(stage.buy(&[], "")).expect("ASCII");
    rows.push(row(
        "B-39 GET with a body",
        request("GET", &result, &[&bearer], body),
        404,
        40_401,
    ));
    rows
}

fn protocols(stage: &Stage) -> Vec<Row> {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    let upgrade = [
        "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABkAAQAAP__",
    ];
    let socket = format!("/api/seckill/ws/{}", stage.activity);
    let hands = [
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    ];
    let shake = |more: &str| {
        let lines: Vec<_> = hands.iter().copied().chain([more]).collect();
        request("GET", &socket, &lines, "")
    };
    let protocols = |user: &str| {
        format!(
            "Sec-WebSocket-Protocol: seckill.v1, bearer.{}",
            stage.server.token(user)
        )
    };
    let old = hands.map(|line| line.replace("13", "8"));
    let old: Vec<_> = old.iter().map(String::as_str).collect();
    vec![
        last("B-38 the preface of HTTP/2", preface, 400, 40_000),
        row(
            "B-38 an upgrade to h2c",
            stage.ask("GET", &stage.result_path(), &upgrade),
            404,
            40_401,
        ),
        row("B-40 another site", shake("Origin: https://evil.example"), 403, 40_302),
        row("B-40 an opaque site", shake("Origin: null"), 403, 40_302),
        row(
            "B-40 two sites",
            shake("Origin: http://test\r\nOrigin: https://evil.example"),
            403,
            40_302,
        ),
        row("B-40 two versions", shake("Sec-WebSocket-Version: 8"), 400, 40_000),
        row(
            "B-40 the same version twice",
            shake("Sec-WebSocket-Version: 13"),
            400,
            40_000,
        ),
        row(
            "B-40 two keys",
            shake("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
            400,
            40_000,
        ),
        row("B-40 no ticket", shake(&protocols("stranger")), 404, 40_401),
        row(
            "B-40 a bad token",
            shake("Sec-WebSocket-Protocol: seckill.v1, bearer.x"),
            401,
            40_100,
        ),
        row("B-40 an old version", request("GET", &socket, &old, ""), 400, 40_000),
        row("B-40 no handshake", stage.ask("GET", &socket, &[]), 400, 40_000),
    ]
}
