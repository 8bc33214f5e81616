//! B-45: many accounts of one machine, or of one network, at the start of a sale. Each is limited by what they have in common, and those who
//! have nothing in common with them buy meanwhile.

use std::sync::Barrier;

use seckill_testkit::{Answer, Server};
use serde_json::json;

use super::house::Mode;

/// Accounts of the farm, each with a request, at the same moment.
const ACCOUNTS: usize = 120;
/// Requests that what they have in common is good for.
const BURST: usize = 5;
const PROXIES: (&str, &str) = ("SECKILL_SERVER__TRUSTED_PROXIES", "127.0.0.0/8");

/// A purchase of somebody from somewhere.
fn buy(server: &Server, sale: u64, user: &str, lines: &[String]) -> Answer {
    let path = format!("/api/seckill/{sale}");
    let answer = server.as_user_with(user, "POST", &path, lines, None);
    answer.expect("answers")
}

/// All accounts at once; what everybody hears beyond the burst has this scope.
fn is_limited(mode: Mode, limit: (&str, &str), scope: &str, common: fn(usize) -> Vec<String>) {
    let served = mode.serve(&[PROXIES, limit]);
    let server = &served.server;
    let sale = server.sale(50, &json!({}));
    let start = Barrier::new(ACCOUNTS);
    let bot = |at: usize| {
        start.wait();
        buy(server, sale, &format!("bot-{at}"), &common(at))
    };
    let answers: Vec<_> = std::thread::scope(|scope| {
        let bots: Vec<_> = (0..ACCOUNTS).map(|at| scope.spawn(move || bot(at))).collect();
        bots.into_iter().map(|bot| bot.join().expect("no panic")).collect()
    });
    let (bought, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 202);
    assert_eq!(bought.len(), BURST, "{scope}");
    for answer in refused {
        let told = (answer.status, answer.code(), answer.data()["scope"].as_str());
        assert_eq!(told, (429, 40_003, Some(scope)), "{answer:?}");
    }
    // Honest people have machines and networks of their own.
    for at in 0..10 {
        let lines = vec![
            format!("X-Forwarded-For: 198.51.{at}.7"),
            format!("X-Device-Id: honest-{at}"),
        ];
        assert_eq!(
            buy(server, sale, &format!("honest-{at}"), &lines).status,
            202,
            "honest {at}"
        );
    }
    let books = server.settled(sale);
    assert_eq!(
        (&books["accepted"], &books["balanced"]),
        (&json!(BURST + 10), &json!(true)),
        "{books}"
    );
}

fn accounts_of_a_device(mode: Mode) {
    // Each from a network of its own.
    let common = |at| vec![format!("X-Forwarded-For: 203.0.{at}.1"), "X-Device-Id: farm".to_owned()];
    is_limited(mode, ("SECKILL_LIMITS__DEVICE", "1/min burst 5"), "device", common);
}

fn accounts_of_a_network(mode: Mode) {
    let common = |at| {
        vec![
            format!("X-Forwarded-For: 203.0.113.{at}"),
            format!("X-Device-Id: farm-{at}"),
        ]
    };
    is_limited(mode, ("SECKILL_LIMITS__NETWORK", "1/min burst 5"), "ip", common);
}

#[test]
fn accounts_of_one_device_are_limited_together_and_others_buy_in_one_process() {
    accounts_of_a_device(Mode::OneProcess);
}

#[test]
fn accounts_of_one_device_are_limited_together_and_others_buy_on_redis() {
    accounts_of_a_device(Mode::Redis);
}

#[test]
fn accounts_of_one_network_are_limited_together_and_others_buy_in_one_process() {
    accounts_of_a_network(Mode::OneProcess);
}

#[test]
fn accounts_of_one_network_are_limited_together_and_others_buy_on_redis() {
    accounts_of_a_network(Mode::Redis);
}
