//! Races, a hundred rounds each, released by a barrier.

use std::sync::Barrier;
use std::thread;

use seckill_testkit::{Answer, Server};
use serde_json::{Value, json};

use crate::program;

const ROUNDS: u64 = 100;

/// One request.
type Job<'a> = Box<dyn Fn() -> Answer + Send + Sync + 'a>;

/// Does all of it at once; the answers stand in the order of the jobs.
fn at_once(jobs: &[Job<'_>]) -> Vec<Answer> {
    let barrier = Barrier::new(jobs.len());
    thread::scope(|scope| {
        let threads: Vec<_> = jobs
            .iter()
            .map(|job| {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    job()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    })
}

fn buy<'a>(server: &'a Server, activity: u64, user: String, key: String) -> Job<'a> {
    Box::new(move || server.buy(activity, &user, &key).expect("answers"))
}

fn statuses(answers: &[Answer]) -> Vec<u16> {
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    statuses
}

#[test]
fn of_two_users_for_the_last_unit_one_gets_it() {
    let server = Server::start(&program());
    for round in 0..ROUNDS {
        let activity = server.sale(1, &json!({}));
        let jobs = ["a", "b"].map(|user| buy(&server, activity, format!("{user}{round}"), "k".to_owned()));
        assert_eq!(statuses(&at_once(&jobs)), [202, 410]);
        let audit = server.settled(activity);
        assert_eq!(
            (
                audit["orders_live"].as_u64(),
                audit["stock_left"].as_u64(),
                &audit["balanced"]
            ),
            (Some(1), Some(0), &json!(true))
        );
    }
}

#[test]
fn a_user_who_clicks_a_hundred_times_at_once_gets_one_unit() {
    let server = Server::start(&program());
    let activity = server.sale(2 * ROUNDS, &json!({}));
    for round in 0..ROUNDS {
        let user = format!("u{round}");
        let jobs: Vec<_> = (0..100)
            .map(|click| buy(&server, activity, user.clone(), format!("k{click}")))
            .collect();
        let answers = at_once(&jobs);
        let tickets: Vec<_> = answers
            .iter()
            .map(|answer| answer.data()["ticket"].as_str().unwrap_or_default())
            .collect();
        assert_eq!(
            answers.iter().filter(|answer| answer.status == 202).count(),
            1,
            "{:?}",
            statuses(&answers)
        );
        assert!(answers.iter().all(|answer| [202, 409].contains(&answer.status)));
        assert!(
            tickets.iter().all(|ticket| *ticket == tickets[0] && !ticket.is_empty()),
            "{tickets:?}"
        );
    }
    assert_eq!(server.settled(activity)["orders_live"], ROUNDS);
}

#[test]
fn the_same_request_a_hundred_times_at_once_is_one_ticket() {
    let server = Server::start(&program());
    let activity = server.sale(2 * ROUNDS, &json!({}));
    for round in 0..ROUNDS {
        let user = format!("u{round}");
        let jobs: Vec<_> = (0..100)
            .map(|_| buy(&server, activity, user.clone(), "same".to_owned()))
            .collect();
        let answers = at_once(&jobs);
        assert!(
            answers
                .iter()
                .all(|answer| answer.status == 202 && answer.data()["ticket"] == answers[0].data()["ticket"])
        );
    }
    assert_eq!(server.settled(activity)["orders_live"], ROUNDS);
}

#[test]
fn preheat_pause_and_added_stock_against_purchases_sell_exactly_what_there_is() {
    let server = Server::start(&program());
    let activity = server.sale(ROUNDS, &json!({}));
    let action = |action: &'static str, body: Value| {
        let path = format!("/admin/api/activities/{activity}/{action}");
        let server = &server;
        Box::new(move || server.as_admin("POST", &path, Some(&body))) as Job<'_>
    };
    let mut added = 0;
    for round in 0..ROUNDS {
        let mut jobs: Vec<_> = (0..3)
            .map(|n| buy(&server, activity, format!("u{round}-{n}"), "k".to_owned()))
            .collect();
        jobs.push(action("preheat", json!({})));
        jobs.push(action("pause", json!({})));
        jobs.push(action("resume", json!({})));
        jobs.push(action("add-stock", json!({"quantity": 1})));
        let answers = at_once(&jobs);
        assert!(
            answers[..3]
                .iter()
                .all(|answer| [202, 410, 503].contains(&answer.status)),
            "{answers:?}"
        );
        assert!(answers[3..].iter().all(|answer| answer.status == 200), "{answers:?}");
        added += 1;
    }
    assert_eq!(action("resume", json!({}))().status, 200);
    for number in 0..3 * ROUNDS {
        let _ = server.buy(activity, &format!("late-{number}"), "k").expect("answers");
    }
    let audit = server.settled(activity);
    assert_eq!(
        (audit["orders_live"].as_u64(), audit["stock_left"].as_u64()),
        (Some(ROUNDS + added), Some(0)),
        "{audit}"
    );
    assert_eq!(audit["balanced"], true, "{audit}");
}

/// Buys for `user` and gives the number of his order.
fn ordered(server: &Server, activity: u64, user: &str) -> String {
    assert_eq!(server.buy(activity, user, "k").expect("answers").status, 202);
    let path = format!("/api/seckill/result/{activity}");
    loop {
        let result = server.as_user(user, "GET", &path, None).expect("answers");
        if result.code() == 1 {
            return result.data()["order_no"].as_str().expect("an order").to_owned();
        }
        assert_eq!(result.code(), 0, "{result:?}");
        thread::yield_now();
    }
}

fn act<'a>(server: &'a Server, user: &'a str, order_no: &str, action: &str) -> Job<'a> {
    let path = format!("/api/orders/{order_no}/{action}");
    Box::new(move || server.as_user(user, "POST", &path, None).expect("answers"))
}

fn state(server: &Server, user: &str, order_no: &str) -> Value {
    server
        .as_user(user, "GET", &format!("/api/orders/{order_no}"), None)
        .expect("answers")
        .data()
        .clone()
}

#[test]
fn cancelling_twice_at_once_gives_the_unit_back_once() {
    let server = Server::start(&program());
    let activity = server.sale(ROUNDS, &json!({}));
    for round in 0..ROUNDS {
        let user = format!("u{round}");
        let order_no = ordered(&server, activity, &user);
        let answers = at_once(&[0, 1].map(|_| act(&server, &user, &order_no, "cancel")));
        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    }
    let audit = server.settled(activity);
    assert_eq!(
        (audit["orders_cancelled"].as_u64(), audit["returned"].as_u64()),
        (Some(ROUNDS), Some(ROUNDS)),
        "{audit}"
    );
    assert_eq!(audit["balanced"], true);
}

#[test]
fn paying_against_cancelling_ends_in_one_of_them() {
    let server = Server::start(&program());
    let activity = server.sale(ROUNDS, &json!({}));
    for round in 0..ROUNDS {
        let user = format!("u{round}");
        let order_no = ordered(&server, activity, &user);
        let answers = at_once(&[
            act(&server, &user, &order_no, "pay"),
            act(&server, &user, &order_no, "cancel"),
        ]);
        let order = state(&server, &user, &order_no);
        match order["state"].as_str() {
            Some("paid") => assert_eq!((answers[0].status, answers[1].status), (200, 409), "{answers:?}"),
            Some("cancelled") => assert_eq!(answers[1].status, 200, "{answers:?}"),
            _ => panic!("{order}"),
        }
    }
    assert_eq!(server.settled(activity)["balanced"], true);
}

#[test]
fn paying_against_expiring_ends_in_one_of_them_and_late_money_goes_back() {
    let server = Server::start_with(&program(), &[("SECKILL_ORDERS__PAY_WITHIN", "1s")]);
    let activity = server.sale(ROUNDS, &json!({}));
    let orders: Vec<_> = (0..ROUNDS)
        .map(|n| format!("u{n}"))
        .map(|user| (ordered(&server, activity, &user), user))
        .collect();
    // Every order is paid once, one after the other, while their deadlines pass one after the other.
    let paid: Vec<_> = orders
        .iter()
        .map(|(order_no, user)| act(&server, user, order_no, "pay")())
        .collect();
    let ended = |order: &Value| order["state"] != "pending_payment";
    for ((order_no, user), answer) in orders.iter().zip(&paid) {
        let order = server.until(|| state(&server, user, order_no), ended);
        match order["state"].as_str() {
            Some("paid") => assert!(answer.status == 200 && order["refund"].is_null(), "{answer:?} {order}"),
            Some("expired") if answer.status == 200 => assert_eq!(order["refund"]["state"], "required", "{order}"),
            Some("expired") => assert_eq!(answer.status, 409, "{answer:?}"),
            _ => panic!("{order}"),
        }
        let again = act(&server, user, order_no, "pay")();
        assert_eq!(
            state(&server, user, order_no)["state"],
            order["state"],
            "a late payment reopened it: {again:?}"
        );
    }
    let audit = server.settled(activity);
    assert_eq!(
        (&audit["balanced"], audit["orders_cancelled"].as_u64()),
        (&json!(true), audit["returned"].as_u64()),
        "{audit}"
    );
}
