//! Results over a WebSocket, with a clock that moves between handshake and first message.

use std::net::TcpStream;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use seckill_sale::ActivityId;
use tokio::net::TcpListener;
use tungstenite::{Message, WebSocket};

use crate::house::House;

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
async fn an_oversized_first_message_is_called_so() {
    let house = House::new();
    let id = house.sale(2).await;
    let code = spoken(&house, id, |mut socket| {
        socket.send(Message::text("x".repeat(9 * 1024))).expect("sent");
        close_code(socket)
    });
    assert_eq!(code.await, 1009);
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
