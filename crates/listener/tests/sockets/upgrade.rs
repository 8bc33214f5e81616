//! A connection that leaves HTTP keeps its place, and is not held to the deadlines of HTTP.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use seckill_listener::{Body, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::client::{Client, wait_until};
use crate::start::{SHORT, join, patient, server};

async fn upgrade(mut request: Request<Body>) -> Result<Response<Empty<Bytes>>, Infallible> {
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let mut socket = TokioIo::new(upgraded.await.expect("the client upgrades"));
        let mut byte = [0];
        while socket.read_exact(&mut byte).await.is_ok() && byte != *b"." {
            socket.write_all(&byte).await.expect("the client reads");
        }
    });
    Ok(Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header("connection", "upgrade")
        .header("upgrade", "echo")
        .body(Empty::new())
        .expect("a valid answer"))
}

#[test]
fn upgraded_connection_counts_until_it_is_let_go() {
    let shutdown = CancellationToken::new();
    let limits = Limits {
        idle_timeout: SHORT,
        header_timeout: SHORT,
        ..patient()
    };
    let handle = server(1, limits, &shutdown)
        .serve(|_core| |_peer| tower::service_fn(upgrade))
        .unwrap();
    let mut client = Client::connect(handle.local_addr());
    client.send("GET / HTTP/1.1\r\nHost: test\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n");
    assert!(client.until_head_ends().starts_with("HTTP/1.1 101"));
    assert_eq!(client.send("a").take(1), b"a");
    // The 408 of another client shows that the deadlines have passed.
    assert_eq!(Client::connect(handle.local_addr()).send("G").reply().status, 408);
    assert_eq!(client.send("b").take(1), b"b");
    assert_eq!(handle.counts().open(), 1);
    client.send(".");
    assert!(client.closes_silently());
    wait_until(|| handle.counts().open() == 0);
    assert_eq!(handle.counts().slow_total(), 1, "only the other client was slow");
    shutdown.cancel();
    join(handle);
}
