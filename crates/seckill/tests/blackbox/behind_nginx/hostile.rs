//! Hostile requests to nginx: it and a node never disagree about where a request ends.

use seckill_testkit::{Server, Wire, call};

use super::{BEHIND, Front};
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
