//! Hostile requests to nginx: it and a node never disagree about where a request ends.

use seckill_testkit::{Server, Wire, call};
use serde_json::json;

use super::node::{self, Node};
use super::{BEHIND, Front};
use crate::hostile::slow::{Slow, all_are_cut_off, kinds};
use crate::hostile::{Stage, refused_for_what_they_say, smuggling};
use crate::program;

/// Limits that no test meets by accident.
const WIDE: &[(&str, &str)] = &[("rate=10r/s", "rate=100000r/s"), ("burst=20", "burst=10000")];

#[test]
fn nginx_and_a_node_agree_where_each_request_ends() {
    let server = Server::start_with(&program(), BEHIND);
    let stage = Stage::set(server);
    let front = Front::of([stage.server.public; 2], WIDE);
    let before = stage.dump();
    for (at, (name, bytes)) in smuggling().into_iter().enumerate() {
        let mut wire = Wire::open(front.address).expect("it listens");
        let next = |id: &str| format!("GET /api/time HTTP/1.1\r\nHost: test\r\nX-Request-Id: {id}\r\n\r\n");
        let own = format!("own-{at}");
        let _closed = wire.send(&bytes).and_then(|()| wire.send(next(&own)));
        // What is hidden may count as a request of this very connection; then it is answered in its turn. Nothing is answered twice.
        let mut ids = Vec::new();
        while let Some(answer) = wire.answer() {
            assert!(answer.status < 500, "{name}: {answer:?}");
            ids.push(answer.header("x-request-id").to_owned());
            if ids.last() == Some(&own) {
                assert_eq!(answer.status, 200, "{name}: {answer:?}");
                break;
            }
        }
        assert!(ids.len() <= 3, "{name}: {ids:?}");
        // Others, whose requests take the same connections to the node.
        for other in 0..6 {
            let id = format!("other-{at}-{other}");
            let mut wire = Wire::open(front.address).expect("it listens");
            wire.send(next(&id)).expect("sent");
            let answer = wire.answer().expect("answered");
            assert_eq!(
                (answer.status, answer.header("x-request-id")),
                (200, id.as_str()),
                "{name}: poisoned"
            );
        }
    }
    assert_eq!(stage.dump(), before);
}

#[test]
fn hostile_requests_are_refused_and_change_nothing_behind_nginx() {
    let server = Server::start_with(&program(), BEHIND);
    let stage = Stage::set(server);
    let front = Front::of([stage.server.public; 2], WIDE);
    let before = stage.dump();
    for (name, bytes) in refused_for_what_they_say(&stage) {
        let mut wire = Wire::open(front.address).expect("it listens");
        let _closed = wire.send(&bytes);
        // nginx may close without a word, and refuses some in its own way.
        if let Some(answer) = wire.answer() {
            assert!((400..500).contains(&answer.status), "{name}: {answer:?}");
        }
    }
    assert_eq!(stage.dump(), before);
    let oversized = format!("{{\"token\":\"{}\"}}", "x".repeat(9_000));
    let refused = call(
        front.address,
        "POST",
        &stage.buy_path(),
        &[stage.bearer()],
        Some(&oversized),
    )
    .expect("answers");
    assert_eq!((refused.status, refused.code()), (413, 40_000), "{refused:?}");
    let broken = call(
        front.address,
        "POST",
        &stage.buy_path(),
        &["Content-Length: x".to_owned()],
        None,
    )
    .expect("answers");
    assert_eq!((broken.status, broken.code()), (400, 40_000), "{broken:?}");
    stage.still_sells();
}

#[test]
fn slow_clients_of_nginx_are_cut_off_and_honest_ones_buy_meanwhile() {
    let server = Server::start_with(&program(), BEHIND);
    let activity = server.sale(100, &json!({}));
    let quick = [("timeout 5s", "timeout 1s"), ("send_timeout 10s", "send_timeout 1s")];
    let changes: Vec<_> = WIDE.iter().copied().chain(quick).collect();
    let front = Front::of([server.public; 2], &changes);
    let [silent, head, _body, _chunks, deaf] = kinds(&server, activity);
    // It says why to some, and to others not.
    let kinds = [silent, head, deaf].map(Slow::hearing_anything);
    all_are_cut_off(front.address, &kinds, || {
        for buyer in 0..100 {
            let bought = Server::buy_at(front.address, activity, &format!("u{buyer}"), "k").expect("answers");
            assert_eq!(bought.status, 202, "{bought:?}");
        }
    });
    let books = server.settled(activity);
    assert_eq!(
        (&books["balanced"], &books["accepted"]),
        (&json!(true), &json!(100)),
        "{books}"
    );
}

#[test]
fn bodies_that_trickle_hold_no_more_than_an_address_s_share_of_nginx_and_nothing_of_a_node() {
    let node = Node::start(|_| -> node::Answer { (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", true) });
    let changes: Vec<_> = WIDE
        .iter()
        .copied()
        .chain([("limit_conn held 1000", "limit_conn held 20")])
        .collect();
    let front = Front::of([node.address; 2], &changes);
    let begin = "POST /api/seckill/7 HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{";
    let hold = || {
        let mut wire = Wire::open(front.address).expect("it listens");
        wire.send(begin).expect("sent");
        wire
    };
    let mut held: Vec<_> = (0..30).map(|_| hold()).collect();
    // Several workers take them in an order of their own. Who is not refused is let go in silence when his time is over.
    let refused: Vec<_> = held.iter_mut().filter_map(Wire::answer).collect();
    assert!((1..=10).contains(&refused.len()), "{refused:?}");
    for answer in refused {
        assert_eq!((answer.status, answer.code()), (429, 40_003), "{answer:?}");
    }
    assert_eq!(node.connections(), 0, "a node sees whole requests");
}
