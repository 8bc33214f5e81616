//! Results over a WebSocket, with a clock that moves between handshake and first message.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use seckill_api::StreamLimits;
use seckill_sale::ActivityId;
use tokio::net::TcpListener;
use tungstenite::{Message, WebSocket};

use crate::house::House;
use crate::plan::Plan;

/// Longest wait for a message: far more than any takes, and far less than a token lives.
const MESSAGE_LIMIT: Duration = Duration::from_secs(30);
/// How long the tokens of this house are good.
const TOKEN_LIFE_MS: i64 = 86_400_000;

/// What the client makes of a socket, on a thread of its own, while the house serves it.
async fn spoken<T: Send + 'static>(
    house: &House,
    id: ActivityId,
    client: impl FnOnce(WebSocket<TcpStream>) -> T + Send + 'static,
) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let client = tokio::task::spawn_blocking(move || {
        let stream = TcpStream::connect(address).expect("connects");
        stream.set_read_timeout(Some(MESSAGE_LIMIT)).expect("a timeout");
        let (socket, _) = tungstenite::client(format!("ws://{address}/api/seckill/ws/{id}"), stream).expect("opened");
        client(socket)
    });
    let (stream, peer) = listener.accept().await.expect("a client");
    let service = TowerToHyperService::new(house.api.connection(peer));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    connection.with_upgrades().await.expect("upgraded");
    client.await.expect("ended")
}

/// A frame of a client with this first byte. Its mask is zero, which leaves bytes as they are.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("a short one");
    [&[first, 0x80 | length, 0, 0, 0, 0], payload].concat()
}

/// The end has to come first: a heartbeat would be a sign of life.
fn close_code(mut socket: WebSocket<TcpStream>) -> u16 {
    match socket.read().expect("a message") {
        Message::Close(frame) => frame.map_or(0, |frame| frame.code.into()),
        other => panic!("it goes on: {other:?}"),
    }
}

#[tokio::test]
async fn a_token_in_the_first_message_is_good_for_no_longer_than_it_says() {
    let house = House::new();
    let id = house.sale(2).await;
    house.buy(id, "a").send().await.is(202, 0);
    let (token, clock) = (house.token("a"), house.clock.clone());
    let code = spoken(&house, id, move |mut socket| {
        clock.advance(TOKEN_LIFE_MS - 1);
        socket.send(Message::text(token)).expect("sent");
        close_code(socket)
    });
    assert_eq!(code.await, 1001, "it ends with the token");
}

#[tokio::test]
async fn what_cannot_be_read_is_closed_with_the_code_of_the_standard() {
    let house = House::new();
    let id = house.sale(2).await;
    house.buy(id, "a").send().await.is(202, 0);
    let parts_of_nothing = [frame(0x01, b""), frame(0x00, b"").repeat(2_000)].concat();
    for (what, bytes, expect) in [
        ("no mask", vec![0x81, 1, b'a'], 1002),
        ("a reserved bit", frame(0xc1, b"a"), 1002),
        ("a part of nothing", frame(0x80, b"a"), 1002),
        ("no UTF-8", frame(0x81, b"\xff"), 1007),
        ("9 KB", vec![0x81, 0x80 | 126, 0x24, 0, 0, 0, 0, 0], 1009),
        ("parts of nothing", parts_of_nothing, 1008),
    ] {
        for token in [None, Some(house.token("a"))] {
            let bytes = bytes.clone();
            let code = spoken(&house, id, move |mut socket| {
                if let Some(token) = token {
                    socket.send(Message::text(token)).expect("sent");
                }
                // It may be closed before all has left.
                let _closed = socket.get_mut().write_all(&bytes);
                close_code(socket)
            });
            assert_eq!(code.await, expect, "{what}");
        }
    }
}

#[tokio::test]
async fn parts_of_messages_are_counted_anew_behind_a_heartbeat() {
    let heartbeat = Duration::from_secs(2);
    let streams = StreamLimits {
        heartbeat,
        ..Plan::default().streams
    };
    let house = House::with(&Plan {
        streams,
        ..Plan::default()
    });
    let id = house.sale(2).await;
    house.buy(id, "a").send().await.is(202, 0);
    let token = house.token("a");
    let heard = spoken(&house, id, move |mut socket| {
        socket.send(Message::text(token)).expect("sent");
        let mut parts = frame(0x01, b"");
        for _ in 0..2 {
            parts.extend(frame(0x00, b"").repeat(50));
            socket.get_mut().write_all(&parts).expect("sent");
            parts.clear();
            // The ping is answered by what is sent next.
            assert!(socket.read().expect("a message").is_ping(), "it goes on");
            socket.flush().expect("sent");
        }
        socket.get_mut().write_all(&frame(0x00, b"").repeat(100)).expect("sent");
        close_code(socket)
    });
    assert_eq!(heard.await, 1008);
}

#[tokio::test]
async fn a_handshake_with_two_origins_is_refused() {
    let house = House::new();
    let id = house.sale(2).await;
    let own = "http://127.0.0.1:8080";
    let handshake = || {
        let asked = house.get(format!("/api/seckill/ws/{id}"));
        asked.header("host", "127.0.0.1:8080").header("origin", own)
    };
    for second in [own, "https://evil.example.com"] {
        handshake().header("origin", second).send().await.is(403, 40302);
    }
    // One is well; what is missing then is the handshake.
    assert_ne!(handshake().send().await.status, 403);
}
