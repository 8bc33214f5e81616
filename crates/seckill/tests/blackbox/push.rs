//! Results that are pushed over a WebSocket, by a client that shares no code with the server.

use std::net::TcpStream;
use std::time::Duration;

use seckill_testkit::Server;
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::http::HeaderValue;
use tungstenite::{Message, WebSocket, client};

use crate::program;

type Socket = WebSocket<TcpStream>;

/// Opens a WebSocket with these headers; else the status that it was refused with.
fn open(server: &Server, path: &str, headers: &[(&'static str, &str)]) -> Result<(Socket, Option<String>), u16> {
    let mut request = format!("ws://{}{path}", server.public)
        .into_client_request()
        .expect("a URL");
    for &(name, value) in headers {
        request
            .headers_mut()
            .insert(name, HeaderValue::from_str(value).expect("a header"));
    }
    let stream = TcpStream::connect(server.public).expect("a listening server");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a socket");
    match client(request, stream) {
        Ok((socket, response)) => {
            let protocol = response.headers().get("sec-websocket-protocol");
            Ok((socket, protocol.and_then(|one| one.to_str().ok()).map(str::to_owned)))
        }
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
            Err(response.status().as_u16())
        }
        Err(other) => panic!("{other}"),
    }
}

fn path(activity: u64) -> String {
    format!("/api/seckill/ws/{activity}")
}

fn told(socket: &mut Socket) -> Value {
    let text = socket.read().expect("a message").into_text().expect("text");
    serde_json::from_str(&text).expect("JSON")
}

fn closed(socket: &mut Socket) -> (u16, String) {
    loop {
        if let Message::Close(frame) = socket.read().expect("a message") {
            let frame = frame.expect("a reason");
            return (frame.code.into(), frame.reason.to_string());
        }
    }
}

#[test]
fn a_websocket_tells_the_result_once_and_closes() {
    let server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    let protocols = format!("seckill.v1, bearer.{}", server.token("a"));
    let (mut by_protocol, chosen) =
        open(&server, &path(activity), &[("sec-websocket-protocol", &protocols)]).expect("opened");
    assert_eq!(chosen.as_deref(), Some("seckill.v1"));
    let (mut by_message, _) = open(&server, &path(activity), &[]).expect("opened");
    by_message.send(Message::text(server.token("a"))).expect("sent");
    for socket in [&mut by_protocol, &mut by_message] {
        let told = told(socket);
        assert_eq!(
            (told["code"].as_u64(), told["data"]["state"].as_str()),
            (Some(1), Some("succeeded")),
            "{told}"
        );
        assert_eq!(closed(socket), (1000, String::new()));
    }
}

#[test]
fn a_websocket_wants_a_buyer_with_a_ticket() {
    let server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    let stranger = format!("bearer.{}", server.token("a"));
    let refused = |path: &str, headers: &[(&'static str, &str)]| open(&server, path, headers).map(drop);
    assert_eq!(
        refused(&path(activity), &[("sec-websocket-protocol", &stranger)]),
        Err(404)
    );
    assert_eq!(
        refused(&path(activity), &[("sec-websocket-protocol", "bearer.junk")]),
        Err(401)
    );
    assert_eq!(refused(&path(activity), &[("authorization", "Bearer junk")]), Err(401));
    assert_eq!(refused(&path(999), &[]), Err(404));
    assert_eq!(
        refused(&path(activity), &[("origin", "https://evil.example")]),
        Err(403)
    );
    for (first, reason) in [(server.token("a"), "40401"), ("junk".to_owned(), "40100")] {
        let (mut socket, _) = open(&server, &path(activity), &[]).expect("opened");
        socket.send(Message::text(first)).expect("sent");
        assert_eq!(closed(&mut socket), (1008, reason.to_owned()));
    }
}

#[test]
fn a_websocket_bounds_what_its_client_sends() {
    let server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    // Nobody can write to the database, so the result never comes.
    let database = rusqlite::Connection::open(server.data().join("seckill.db")).expect("the database");
    database.execute_batch("BEGIN IMMEDIATE").expect("locked");
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    let protocols = format!("seckill.v1, bearer.{}", server.token("a"));
    let watcher = || {
        open(&server, &path(activity), &[("sec-websocket-protocol", &protocols)])
            .expect("opened")
            .0
    };
    let mut large = watcher();
    large.send(Message::text("x".repeat(9_000))).expect("sent");
    assert_eq!(closed(&mut large).0, 1009);
    let mut many = watcher();
    for _ in 0..17 {
        many.send(Message::Ping("p".into())).expect("sent");
    }
    assert_eq!(closed(&mut many).0, 1008);
    let mut open_sockets: Vec<_> = (0..4).map(|_| watcher()).collect();
    assert_eq!(
        open(&server, &path(activity), &[("sec-websocket-protocol", &protocols)]).map(drop),
        Err(429)
    );
    open_sockets.clear();
}
