//! Killed at any moment: every ticket that a client read ends in exactly one order or one failure, never more than the stock, and a
//! retry with the same key gets the same ticket.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use seckill_testkit::Server;
use serde_json::{Value, json};

use crate::program;

const ROUNDS: u64 = 20;
const STOCK: u64 = 400;
const BUYERS_AT_ONCE: usize = 8;

/// What the clients read, over all rounds.
#[derive(Default)]
pub(crate) struct History {
    /// Ticket of each user who read a 202.
    pub(crate) tickets: BTreeMap<String, String>,
    /// Users whose request got no whole answer, or an unknown outcome.
    pub(crate) unanswered: BTreeSet<String>,
}

#[test]
fn twenty_kills_under_load_lose_no_ticket_and_sell_nothing_twice() {
    let mut server = Server::start(&program());
    let activity = server.sale(STOCK, &json!({}));
    let history = Arc::new(Mutex::new(History::default()));
    for round in 0..ROUNDS {
        rush_and_kill(&mut server, activity, round, &history);
        server.start_again();
        let history = history.lock().expect("no client panicked");
        for (user, ticket) in &history.tickets {
            let again = server.buy(activity, user, user).expect("answers");
            assert_eq!(
                (again.status, again.data()["ticket"].as_str()),
                (202, Some(ticket.as_str())),
                "{user}: {again:?}"
            );
            assert_eq!(again.header("Idempotency-Replayed"), "true");
        }
    }
    check_end(&server, activity, &history.lock().expect("no client panicked"));
}

/// Lets buyers rush in and kills the server after a number of answers that differs from round to round.
fn rush_and_kill(server: &mut Server, activity: u64, round: u64, history: &Arc<Mutex<History>>) {
    let answers = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let kill_after = 3 + round * 7 % 23;
    thread::scope(|scope| {
        for client in 0..BUYERS_AT_ONCE {
            let (server, answers, stop, history) = (&*server, &answers, &stop, history.clone());
            scope.spawn(move || {
                for number in 0.. {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let user = format!("u{round}-{client}-{number}");
                    let answer = server.buy(activity, &user, &user);
                    let mut history = history.lock().expect("no client panicked");
                    match answer {
                        Ok(answer) if answer.status == 202 => {
                            let ticket = answer.data()["ticket"].as_str().expect("a ticket").to_owned();
                            history.tickets.insert(user, ticket);
                        }
                        Ok(answer) if answer.status == 410 => {}
                        _ => _ = history.unanswered.insert(user),
                    }
                    drop(history);
                    answers.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        while answers.load(Ordering::SeqCst) < kill_after {
            thread::yield_now();
        }
        kill_by_pid(server.pid());
        stop.store(true, Ordering::SeqCst);
    });
    server.kill();
}

fn kill_by_pid(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).expect("small")).expect("not zero");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("a child of ours");
}

/// Sells out what is left, then counts.
fn check_end(server: &Server, activity: u64, history: &History) {
    for user in &history.unanswered {
        let answer = server.buy(activity, user, user).expect("answers");
        assert!([202, 410].contains(&answer.status), "{user}: {answer:?}");
    }
    for number in 0..STOCK {
        let user = format!("late-{number}");
        if server.buy(activity, &user, &user).expect("answers").status == 410 {
            break;
        }
    }
    let audit = server.settled(activity);
    assert_eq!(audit["balanced"], true, "{audit}");
    assert_eq!(
        (audit["orders_live"].as_u64(), audit["stock_left"].as_u64()),
        (Some(STOCK), Some(0)),
        "{audit}"
    );
    for (user, ticket) in &history.tickets {
        let result = server
            .as_user(user, "GET", &format!("/api/seckill/result/{activity}"), None)
            .expect("answers");
        assert_eq!(
            (result.code(), result.data()["ticket"].as_str()),
            (1, Some(ticket.as_str())),
            "{user}: {result:?}"
        );
    }
    assert_eq!(
        orders_by_user(server, activity).values().max(),
        Some(&1),
        "somebody has two orders"
    );
}

pub(crate) fn orders_by_user(server: &Server, activity: u64) -> BTreeMap<String, u64> {
    let (mut orders, mut cursor) = (BTreeMap::new(), String::new());
    loop {
        let path = format!("/admin/api/orders?activity_id={activity}&limit=500{cursor}");
        let page = server.as_admin("GET", &path, None);
        for order in page.data()["orders"].as_array().expect("items") {
            *orders
                .entry(order["user_id"].as_str().expect("a user").to_owned())
                .or_default() += 1;
        }
        match &page.data()["next_cursor"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => return orders,
        }
    }
}
