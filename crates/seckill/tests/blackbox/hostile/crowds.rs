//! One client that asks ten thousand times at once, and one that takes every connection. Honest buyers go on meanwhile.

use std::io::Write as _;
use std::net::TcpStream;
use std::thread;

use seckill_testkit::{Server, Wire};
use serde_json::json;

use super::stage::all_buy;
use crate::program;

#[test]
fn ten_thousand_pipelined_purchases_of_one_user_are_answered_in_order_and_take_one_unit() {
    const REQUESTS: usize = 10_000;
    let server = Server::start(&program());
    let activity = server.sale(100, &json!({}));
    let mut wire = Wire::open(server.public).expect("it listens");
    let mut stream = wire.stream().expect("a descriptor");
    let bearer = format!("Authorization: Bearer {}", server.token("greedy"));
    let statuses = thread::scope(|scope| {
        scope.spawn(move || {
            for at in 0..REQUESTS {
                let head = format!(
                    "POST /api/seckill/{activity} HTTP/1.1\r\nHost: test\r\nX-Request-Id: r{at}\r\n{bearer}\r\n\r\n"
                );
                stream.write_all(head.as_bytes()).expect("it reads on");
            }
        });
        let honest = scope.spawn(|| all_buy(&server, activity, 0..50));
        let statuses: Vec<_> = (0..REQUESTS)
            .map(|at| {
                let answer = wire.answer().expect("an answer to each");
                assert_eq!(answer.header("x-request-id"), format!("r{at}"));
                answer.status
            })
            .collect();
        honest.join().expect("they buy");
        statuses
    });
    assert_eq!(statuses[0], 202);
    assert!(statuses[1..].iter().all(|&status| status == 409));
    let books = server.settled(activity);
    assert_eq!(
        (&books["balanced"], &books["stock_left"]),
        (&json!(true), &json!(49)),
        "{books}"
    );
}

#[test]
fn who_takes_every_connection_takes_none_from_the_journal_and_the_operator() {
    let program = program().with_descriptors(512);
    let server = Server::start_with(&program, &[("SECKILL_SERVER__IDLE_TIMEOUT", "5s")]);
    let activity = server.sale(60, &json!({}));
    let mut early = Wire::open(server.public).expect("it listens");
    let mut buy = |buyer: usize| {
        let bearer = format!("Authorization: Bearer {}", server.token(&format!("u{buyer}")));
        let head = format!("POST /api/seckill/{activity} HTTP/1.1\r\nHost: test\r\n{bearer}\r\n\r\n");
        early.send(head).expect("kept");
        early.answer().expect("answered").status
    };
    assert_eq!(buy(0), 202);
    let flood = |address| {
        (0..700)
            .map(|_| TcpStream::connect(address).expect("the kernel takes it"))
            .collect::<Vec<_>>()
    };
    let held = flood(server.public);
    for buyer in 1..20 {
        assert_eq!(buy(buyer), 202, "who was connected goes on");
    }
    let audit = server.as_admin("GET", &format!("/admin/api/activities/{activity}/audit"), None);
    assert_eq!(audit.status, 200, "{audit:?}");
    // Nobody should be able to reach the operator's port; somebody within may run wild all the same.
    let held_of_admin = flood(server.admin);
    for buyer in 20..40 {
        assert_eq!(buy(buyer), 202, "who was connected goes on");
    }
    drop((held, held_of_admin));
    server.until_ready();
    let bought = server.until(|| server.buy(activity, "late", "k"), |answer| answer.is_ok());
    assert_eq!(bought.expect("answers").status, 202);
    let books = server.settled(activity);
    assert_eq!(
        (&books["balanced"], &books["accepted"]),
        (&json!(true), &json!(41)),
        "{books}"
    );
}
