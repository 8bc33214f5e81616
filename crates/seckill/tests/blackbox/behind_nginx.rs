//! The shipped configuration of a real nginx: what it limits, what it repeats and what it doesn't, what it passes on.

mod gateway;
mod hostile;
mod node;

use std::net::SocketAddr;

use seckill_testkit::{Server, Wire, call, free_address};
use serde_json::json;
use tempfile::TempDir;

use crate::deploy::{Foreign, nginx};
use crate::program;
use node::Node;

/// nginx in front of these nodes, with the shipped file but for `changes`.
struct Front {
    address: SocketAddr,
    _nginx: Foreign,
    _folder: TempDir,
}

impl Front {
    fn of(nodes: [SocketAddr; 2], changes: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let (process, address) = nginx(folder.path(), nodes, changes);
        Self {
            address,
            _nginx: process,
            _folder: folder,
        }
    }
}

const BEHIND: &[(&str, &str)] = &[("SECKILL_SERVER__TRUSTED_PROXIES", "127.0.0.0/8")];
const FINE: node::Answer = (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", true);
/// The request arrived, and nobody will know what came of it.
const SILENT_END: node::Answer = (b"", false);

#[test]
fn an_address_that_asks_too_often_hears_it_in_the_form_of_all_errors() {
    let node = Node::start(|_| FINE);
    let front = Front::of([node.address; 2], &[]);
    let ask = |path: &str| call(front.address, "POST", path, &[], None).expect("answers");
    let answers: Vec<_> = (0..80)
        .map(|at| {
            ask(if at % 2 == 0 {
                "/api/seckill/7"
            } else {
                "/api/seckill/7/token"
            })
        })
        .collect();
    let limited: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
    let through = answers.len() - limited.len();
    assert!(21 <= through && !limited.is_empty(), "{through} came through");
    assert_eq!(node.heads().len(), through, "who is refused does not reach a node");
    for answer in limited {
        assert_eq!(
            (answer.code(), answer.header("content-type")),
            (40_003, "application/problem+json"),
            "{answer:?}"
        );
        assert_eq!(answer.data(), &json!({"scope": "ip"}));
        assert!(
            (1..=3).contains(&answer.header("retry-after").parse::<u64>().expect("seconds")),
            "{answer:?}"
        );
        assert_eq!(answer.header("x-request-id"), answer.json["request_id"], "{answer:?}");
        assert!(
            1_700_000_000_000 < answer.header("server-time").parse::<u64>().expect("milliseconds"),
            "{answer:?}"
        );
    }
    // Whoever polls is not a buyer who clicks.
    let polls = (0..60).map(|_| {
        call(front.address, "GET", "/api/seckill/result/7", &[], None)
            .expect("answers")
            .status
    });
    assert!(polls.into_iter().all(|status| status == 200));
}

#[test]
fn a_purchase_that_reached_a_node_is_never_sent_again_and_a_read_is() {
    let nodes = [Node::start(|_| SILENT_END), Node::start(|_| SILENT_END)];
    let front = Front::of([nodes[0].address, nodes[1].address], &[]);
    let arrived = || nodes.iter().map(|node| node.heads().len()).sum::<usize>();
    let bought = call(
        front.address,
        "POST",
        "/api/seckill/7",
        &["Idempotency-Key: key-1".to_owned()],
        None,
    )
    .expect("answers");
    assert_eq!((bought.status, bought.code()), (503, 50_302), "{bought:?}");
    assert!(
        (1..=3).contains(&bought.header("retry-after").parse::<u64>().expect("seconds")),
        "{bought:?}"
    );
    assert_eq!(arrived(), 1, "once");
    for (method, path) in [
        ("POST", "/api/orders/S1-1-1/pay"),
        ("POST", "/api/payments/webhook"),
        ("POST", "/api/seckill/7/token"),
    ] {
        let before = arrived();
        assert_eq!(
            call(front.address, method, path, &[], None).expect("answers").status,
            503,
            "{path}"
        );
        assert_eq!(arrived(), before + 1, "{path}");
    }
    let nodes = [Node::start(|_| SILENT_END), Node::start(|_| FINE)];
    let front = Front::of([nodes[0].address, nodes[1].address], &[]);
    for _ in 0..4 {
        assert_eq!(
            call(front.address, "GET", "/api/seckill/result/7", &[], None)
                .expect("answers")
                .status,
            200
        );
    }
    assert!(
        !nodes[0].heads().is_empty(),
        "a node that fails was asked, and the other one then"
    );
}

#[test]
fn a_node_that_is_gone_costs_no_buyer_his_purchase() {
    let server = Server::start_with(&program(), BEHIND);
    let activity = server.sale(10, &json!({}));
    let front = Front::of([free_address(), server.public], &[]);
    for buyer in 0..10 {
        let bought = Server::buy_at(front.address, activity, &format!("u{buyer}"), "k").expect("answers");
        assert_eq!(bought.status, 202, "{bought:?}");
    }
}

#[test]
fn what_nodes_are_told_of_a_client_is_nginx_s_word() {
    let node = Node::start(|_| FINE);
    let front = Front::of([node.address; 2], &[]);
    let forged = [
        "X-User-Id: winner",
        "X-Forwarded-For: 10.0.0.1",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABkAAQAAP__",
    ];
    let forged = forged.map(str::to_owned);
    assert_eq!(
        call(front.address, "GET", "/api/time", &forged, None)
            .expect("answers")
            .status,
        200
    );
    let head = node.heads().pop().expect("one").to_ascii_lowercase();
    assert!(head.contains("x-forwarded-for: 10.0.0.1, 127.0.0.1"), "{head}");
    assert!(!head.contains("x-user-id") && !head.contains("upgrade:"), "{head}");
}

#[test]
fn connections_to_nodes_are_kept() {
    let node = Node::start(|_| FINE);
    let front = Front::of([node.address; 2], &[]);
    for _ in 0..100 {
        assert_eq!(
            call(front.address, "GET", "/api/time", &[], None)
                .expect("answers")
                .status,
            200
        );
    }
    // One for each worker of nginx and each node.
    let most = 2 * std::thread::available_parallelism().map_or(1, usize::from);
    assert!(
        node.connections() <= most + 2,
        "{} connections for a hundred requests",
        node.connections()
    );
}

#[test]
fn an_event_passes_at_once_though_the_stream_goes_on() {
    let begin: node::Answer = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: quiet\n\n",
        true,
    );
    let node = Node::start(move |_| begin);
    let front = Front::of([node.address; 2], &[]);
    let mut wire = Wire::open(front.address).expect("it listens");
    wire.send("GET /api/seckill/events/7 HTTP/1.1\r\nHost: test\r\n\r\n")
        .expect("sent");
    // The node has neither said how much comes nor closed.
    assert!(wire.until(b": quiet\n\n").is_some(), "it was held back");
}
