//! B-40: whose results a WebSocket tells, how many of them a user has, and who has to answer.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::house::{House, Mode};
use super::socket::{CONTINUATION, FIN, PING, Socket, TEXT, frame};
use super::stage::{STRANGER, WINNER};
use super::streams::Stream;

const POLICY: u16 = 1008;
const NO_TOKEN: &str = "the first message must be a token";
/// Parts that somebody sends at once who sends for as long as he is let.
const ENDLESS: usize = 10_000;
/// Longest time for which that may be.
const PATIENCE: Duration = Duration::from_secs(60);

fn path(activity: u64) -> String {
    format!("/api/seckill/ws/{activity}")
}

fn bearer(house: &House, user: &str) -> String {
    format!(
        "Sec-WebSocket-Protocol: seckill.v1, bearer.{}",
        house.server().token(user)
    )
}

/// A socket of somebody who has not said who he is.
fn unnamed(house: &House, query: &str) -> Socket {
    let path = format!("{}{query}", path(house.stage.activity));
    Socket::open(house.server(), &path, &[]).unwrap_or_else(|refused| panic!("{query}: {refused:?}"))
}

/// What a socket hears that says this first.
fn closed_after(house: &House, query: &str, first: &[u8]) -> Option<(u16, String)> {
    let mut socket = unnamed(house, query);
    socket.send(first);
    socket.closed()
}

fn results_are_their_owners(house: &House) {
    let (server, activity) = (house.server(), house.stage.activity);
    house.is_unmoved_by(|| {
        let policy = |reason: &str| Some((POLICY, reason.to_owned()));
        // It says nothing while the others are looked at, and hears of it in the end.
        let silent = unnamed(house, "");
        let winner = server.token(WINNER);
        for name in ["token", "access_token", "bearer", "authorization", "protocol"] {
            let closed = closed_after(house, &format!("?{name}={winner}"), &frame(FIN | PING, b""));
            assert_eq!(closed, policy(NO_TOKEN), "{name} in the URL");
        }
        let large = "x".repeat(9_000);
        let admin = server.admin_token();
        for (first, code, reason) in [
            (server.token(STRANGER).as_str(), POLICY, "40401"),
            (admin, POLICY, "40100"),
            ("", POLICY, "40100"),
            (&large[..8_000], POLICY, "40100"),
            (&large, 1009, "a message was too large"),
        ] {
            let closed = closed_after(house, &format!("?token={winner}"), &frame(FIN | TEXT, first.as_bytes()));
            assert_eq!(closed, Some((code, reason.to_owned())), "{first}");
        }
        // Programs send no origin, and have no cookie that a page could ride on.
        for origin in [&[][..], &["Origin: http://test"]] {
            let protocols = bearer(house, WINNER);
            let lines: Vec<_> = origin.iter().copied().chain([protocols.as_str()]).collect();
            let mut socket = Socket::open(server, &path(activity), &lines).expect("opened");
            assert_eq!(socket.message().expect("told")["data"]["order_no"], house.stage.order);
            assert_eq!(socket.closed(), Some((1000, String::new())));
        }
        assert_eq!(silent.closed(), policy(NO_TOKEN));
    });
}

/// Whoever has four streams, of whatever kind, gets no fifth, and others get theirs.
fn a_user_has_four(house: &House) {
    let server = house.server();
    let sale = server.sale(5, &json!({}));
    house.is_unmoved_by(|| {
        let withheld = house.withhold();
        let buys = |user: &str| assert_eq!(server.buy(sale, user, "k").expect("answers").status, 202);
        let opens = |user: &str| Socket::open(server, &path(sale), &[&bearer(house, user)]);
        let streams = || Stream::open(house, sale, "hoarder", &[]).map_err(|refused| refused.code());
        buys("hoarder");
        buys("neighbour");
        let mut open = [opens("hoarder").expect("opened"), opens("hoarder").expect("opened")];
        let events = [streams().expect("opened"), streams().expect("opened")];
        assert_eq!(opens("hoarder").map(drop), Err((429, 42_901)));
        assert_eq!(streams().map(drop), Err(42_901));
        let mut first = Socket::open(server, &path(sale), &[]).expect("opened");
        first.send(&frame(FIN | TEXT, server.token("hoarder").as_bytes()));
        assert_eq!(first.closed(), Some((POLICY, "42901".to_owned())));
        let mut neighbour = opens("neighbour").expect("opened");
        // Whatever it is told later, it is its opener's.
        for user in [WINNER, "neighbour"] {
            open[0].send(&frame(FIN | TEXT, server.token(user).as_bytes()));
        }
        drop(withheld);
        let told = |socket: &mut Socket| socket.message().expect("told")["data"]["order_no"].clone();
        let (orders, others) = (open.each_mut().map(told), told(&mut neighbour));
        let own = |user: &str| -> Value {
            let answer = server.as_user(user, "GET", &format!("/api/seckill/result/{sale}"), None);
            answer.expect("answers").data()["order_no"].clone()
        };
        let (hoarded, other) = (own("hoarder"), own("neighbour"));
        assert!(hoarded.is_string() && hoarded != other);
        assert_eq!(orders, [hoarded.clone(), hoarded]);
        assert_eq!(others, other);
        for stream in events {
            let _result = stream.told();
        }
        assert_eq!(server.settled(sale)["balanced"], true);
        let all_gone = || ["sse", "websocket"].map(|kind| house.metric(&format!("seckill_streams{{kind=\"{kind}\"}}")));
        let _gone = server.until(all_gone, |open| open.iter().sum::<f64>() < 1.0);
    });
}

/// A socket that answers no ping is closed, and one that is busy with a message that never ends before.
fn who_answers_no_ping_is_closed(house: &House) {
    let server = house.server();
    let sale = server.sale(5, &json!({}));
    house.is_unmoved_by(|| {
        let withheld = house.withhold();
        let opens = |user: &str| {
            assert_eq!(server.buy(sale, user, "k").expect("answers").status, 202);
            Socket::open(server, &path(sale), &[&bearer(house, user)]).expect("opened")
        };
        let (silent, mut endless) = (opens("silent"), opens("endless"));
        let before = house.memory_bytes();
        endless.send(&frame(TEXT, b""));
        let part = frame(CONTINUATION, b"").repeat(ENDLESS);
        let end = Instant::now() + PATIENCE;
        while endless.0.send(&part).is_ok() {
            assert!(Instant::now() < end, "it goes on");
        }
        let more = house.memory_bytes().saturating_sub(before);
        assert!(more < 16 << 20, "{more} bytes more");
        assert_eq!(silent.closed(), Some((POLICY, "a ping was not answered".to_owned())));
        drop(withheld);
        assert_eq!(server.settled(sale)["balanced"], true);
    });
}

#[test]
fn a_socket_tells_its_owner_s_result_and_nobody_else_s_in_one_process() {
    let house = Mode::OneProcess.house(&[]);
    results_are_their_owners(&house);
}

#[test]
fn a_socket_tells_its_owner_s_result_and_nobody_else_s_on_redis() {
    results_are_their_owners(&Mode::Redis.house(&[]));
}

#[test]
fn sockets_and_streams_of_a_user_are_four_together_in_one_process() {
    a_user_has_four(&Mode::OneProcess.house(&[]));
}

#[test]
fn sockets_and_streams_of_a_user_are_four_together_on_redis() {
    a_user_has_four(&Mode::Redis.house(&[]));
}

const QUICK: [(&str, &str); 1] = [("SECKILL_STREAMS__HEARTBEAT", "1s")];

#[test]
fn a_socket_that_answers_no_ping_is_closed_in_one_process() {
    who_answers_no_ping_is_closed(&Mode::OneProcess.house(&QUICK));
}

#[test]
fn a_socket_that_answers_no_ping_is_closed_on_redis() {
    who_answers_no_ping_is_closed(&Mode::Redis.house(&QUICK));
}
