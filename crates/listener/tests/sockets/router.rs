//! An axum router on the listener: extractors, the peer, and the marker of a slow body.

use std::error::Error as _;

use axum::Router;
use axum::extract::Extension;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::routing::{get, post};
use bytes::Bytes;
use seckill_listener::{Limits, Peer, WithPeer, hello, is_body_timeout};
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::start::{SHORT, join, patient, server};

async fn echo(body: Result<Bytes, BytesRejection>) -> (StatusCode, Bytes) {
    match body {
        Ok(body) => (StatusCode::OK, body),
        Err(rejection) if rejection.source().is_some_and(is_body_timeout) => {
            (StatusCode::REQUEST_TIMEOUT, Bytes::from_static(b"slow"))
        }
        Err(rejection) => (rejection.status(), Bytes::new()),
    }
}

#[test]
fn router_reads_bodies_and_knows_slow_ones() {
    let shutdown = CancellationToken::new();
    let limits = Limits {
        body_timeout: SHORT,
        ..patient()
    };
    let handle = server(1, limits, &shutdown)
        .serve(|_core| {
            let router = Router::new().route("/echo", post(echo)).route(
                "/peer",
                get(|Extension(peer): Extension<Peer>| async move { peer.address.to_string() }),
            );
            move |peer| WithPeer::new(router.clone(), peer)
        })
        .unwrap();
    let mut client = Client::connect(handle.local_addr());
    let here = client.stream().local_addr().unwrap().to_string();
    assert_eq!(client.get("/peer").body, here);
    client.send("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\nhi");
    assert_eq!(client.reply().body, "hi");
    client.send("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhi");
    let reply = client.reply();
    assert_eq!((reply.status, reply.body.as_str()), (408, "slow"));
    shutdown.cancel();
    join(handle);
}

#[test]
fn hello_reads_the_body_and_answers_160_bytes() {
    let shutdown = CancellationToken::new();
    let handle = server(2, patient(), &shutdown).serve(hello::core).unwrap();
    let mut client = Client::connect(handle.local_addr());
    for _ in 0..2 {
        client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\nhi");
        let reply = client.reply();
        assert_eq!((reply.status, reply.body.len()), (200, 160));
    }
    shutdown.cancel();
    join(handle);
}
