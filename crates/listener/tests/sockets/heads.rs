//! Heads that are broken, ambiguous or too large get a worded answer, and the connection closes.

use crate::client::Client;
use crate::start::{patient, start};

#[track_caller]
fn check(request: impl AsRef<[u8]>, expect: u16) {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    client.send(request);
    let reply = client.reply();
    assert_eq!(reply.status, expect, "{reply:?}");
    assert_eq!(reply.body, format!("{{\"status\":{expect}}}"));
    assert!(reply.has("content-type: application/problem+json"), "{}", reply.head);
    assert!(reply.has("server-time: 1700000000000"), "{}", reply.head);
    assert!(reply.has("connection: close"), "{}", reply.head);
    assert!(client.ends_cleanly(), "nothing follows the answer");
}

#[test]
fn length_beside_chunked_is_refused_in_either_order() {
    let body = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: test\r\n\r\n";
    let length = "Content-Length: 5\r\n";
    let chunked = "Transfer-Encoding: chunked\r\n";
    for (first, second) in [(length, chunked), (chunked, length)] {
        check(
            format!("POST / HTTP/1.1\r\nHost: test\r\n{first}{second}\r\n{body}"),
            400,
        );
    }
}

#[test]
fn two_lengths_are_refused_even_where_they_agree() {
    for second in [5, 6] {
        check(
            format!("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nContent-Length: {second}\r\n\r\n12345"),
            400,
        );
    }
}

#[test]
fn host_must_stand_there_once() {
    check("GET / HTTP/1.1\r\n\r\n", 400);
    check("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400);
}

#[test]
fn obscure_framing_is_refused() {
    for line in [
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: chunked, gzip",
        "Content-Length: -1",
        "Content-Length: 99999999999999999999999",
        "X: a\r\n folded",
        "X: a\0b",
        "X\x01: a",
    ] {
        check(format!("POST / HTTP/1.1\r\nHost: test\r\n{line}\r\n\r\n"), 400);
    }
    check("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
}

#[test]
fn bare_line_feeds_are_refused() {
    check("GET / HTTP/1.1\nHost: test\n\n", 400);
    check("GET / HTTP/1.1\r\nHost: test\nX: y\r\n\r\n", 400);
}

#[test]
fn nonsense_is_refused() {
    check("\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n", 400);
    check("GET / HTTP/3.7\r\nHost: test\r\n\r\n", 400);
    check("GET /a b HTTP/1.1\r\nHost: test\r\n\r\n", 400);
    check("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400);
}

#[test]
fn large_head_is_refused_though_more_of_it_is_on_its_way() {
    check(
        format!("GET / HTTP/1.1\r\nHost: test\r\nX: {}\r\n\r\n", "x".repeat(1_000_000)),
        431,
    );
    check(
        format!("GET /{} HTTP/1.1\r\nHost: test\r\n\r\n", "x".repeat(20_000)),
        431,
    );
}

#[test]
fn client_still_sending_is_not_reset_at_once() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    client.send(format!("GET / HTTP/1.1\r\nHost: test\r\nX: {}", "x".repeat(20_000)));
    client.until_head_ends();
    // A closed socket would answer the first of these with a reset, and the rest would fail.
    for _ in 0..2_000 {
        client.send([b'x'; 1_024]);
    }
}

#[test]
fn head_within_the_limit_is_served() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    client.send(format!(
        "GET / HTTP/1.1\r\nHost: test\r\nX: {}\r\n\r\n",
        "x".repeat(15_000)
    ));
    assert_eq!(client.reply().status, 200);
}

#[test]
fn many_headers_are_refused() {
    for lines in [64, 101] {
        check(
            format!("GET / HTTP/1.1\r\nHost: test\r\n{}\r\n", "X: y\r\n".repeat(lines)),
            431,
        );
    }
}

#[test]
fn answer_before_a_broken_head_arrives_first() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    client.send("GET /peer HTTP/1.1\r\nHost: test\r\n\r\nBROKEN\r\n\r\n");
    assert_eq!(client.reply().status, 200);
    let reply = client.reply();
    assert_eq!((reply.status, reply.body.as_str()), (400, "{\"status\":400}"));
    assert!(client.closes_silently());
}

#[test]
fn service_s_own_bare_error_is_left_alone() {
    let server = start(patient());
    let mut client = Client::connect(server.address);
    client.send("GET /bare HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    let reply = client.reply();
    assert_eq!((reply.status, reply.body.as_str()), (400, ""));
    assert!(client.closes_silently());
}
