//! B-19, B-30, B-33 and B-34: guesses, forged addresses, and many clicks at once.

use std::collections::BTreeSet;
use std::sync::Barrier;

use seckill_testkit::{Server, call};
use serde_json::json;

use super::house::Mode;

fn guesses_of_the_operator_s_token_are_slowed_down(mode: Mode) {
    let served = mode.serve(&[]);
    let server = &served.server;
    let guess = |at: usize| {
        let line = format!("Authorization: Bearer guess-{at}-0123456789abcdef-0123456789");
        call(server.admin, "GET", "/admin/api/switches", &[line], None).expect("answers")
    };
    let guesses: Vec<_> = (0..40).map(guess).collect();
    let told: BTreeSet<_> = guesses.iter().map(|answer| (answer.status, answer.code())).collect();
    assert_eq!(told, BTreeSet::from([(401, 40_100), (429, 40_003)]));
    let last = guesses.last().expect("forty");
    assert!(
        1 <= last.header("retry-after").parse::<u64>().expect("a wait"),
        "{last:?}"
    );
    assert_eq!(server.as_admin("GET", "/admin/api/switches", None).status, 200);
    let user = server.token("a");
    let as_user = call(
        server.admin,
        "GET",
        "/admin/api/switches",
        &[format!("Authorization: Bearer {user}")],
        None,
    );
    assert!(matches!(as_user.expect("answers").status, 401 | 429));
}

fn forged_addresses_change_nothing(mode: Mode) {
    let served = mode.serve(&[("SECKILL_LIMITS__IP", "1/min burst 5")]);
    let server = &served.server;
    let activity = server.sale(3, &json!({}));
    let long = (0..500)
        .map(|at| format!("10.1.{}.{}", at / 250, at % 250))
        .collect::<Vec<_>>()
        .join(", ");
    let lines = |at: usize| match at % 8 {
        0 => vec![format!("X-Forwarded-For: 203.0.113.{at}")],
        1 => vec![format!("X-Real-IP: 203.0.113.{at}")],
        2 => vec![format!("Forwarded: for=203.0.113.{at}")],
        3 => vec![format!("CF-Connecting-IP: 203.0.113.{at}")],
        4 => vec![
            format!("X-FORWARDED-for: 203.0.113.{at}"),
            "X-Forwarded-For: 198.51.100.1".to_owned(),
        ],
        5 => vec![format!("X-Forwarded-For: {long}")],
        6 => vec!["X-Forwarded-For: \u{fffd}<junk>,,".to_owned()],
        _ => vec![format!("True-Client-IP: 203.0.113.{at}")],
    };
    let path = format!("/api/seckill/{activity}");
    let statuses: Vec<_> = (0..40)
        .map(|at| call(server.public, "POST", &path, &lines(at), None).expect("answers"))
        .collect();
    assert!(statuses[..5].iter().all(|answer| answer.status == 401), "{statuses:?}");
    for limited in &statuses[5..] {
        assert_eq!(
            (limited.code(), limited.data()["scope"].as_str()),
            (40_003, Some("ip")),
            "{limited:?}"
        );
    }
}

fn behind_a_trusted_proxy_the_rightmost_hop_is_limited(mode: Mode) {
    let settings = [
        ("SECKILL_LIMITS__IP", "1/min burst 5"),
        ("SECKILL_SERVER__TRUSTED_PROXIES", "127.0.0.0/8"),
    ];
    let served = mode.serve(&settings);
    let server = &served.server;
    let activity = server.sale(3, &json!({}));
    let ask = |hops: String| {
        let line = format!("X-Forwarded-For: {hops}");
        call(
            server.public,
            "POST",
            &format!("/api/seckill/{activity}"),
            &[line],
            None,
        )
        .expect("answers")
        .status
    };
    // What the client says of himself stands to the left, and is not believed.
    let forged: Vec<_> = (0..10)
        .map(|at| ask(format!("198.51.100.{at}, 203.0.113.7, 127.0.0.9")))
        .collect();
    assert_eq!(forged, [401, 401, 401, 401, 401, 429, 429, 429, 429, 429]);
    assert_eq!(ask("198.51.100.1, 203.0.113.8".to_owned()), 401, "another client");
}

/// Everybody asks at the same moment: each a user, the address he comes from, and his key.
fn at_once(server: &Server, activity: u64, clicks: &[(&str, String, Option<&str>)]) -> Vec<(u16, i64, String)> {
    let start = Barrier::new(clicks.len());
    let click = |(user, address, key): &(&str, String, Option<&str>)| {
        let mut lines = vec![
            format!("Authorization: Bearer {}", server.token(user)),
            format!("X-Forwarded-For: {address}"),
        ];
        lines.extend(key.map(|key| format!("Idempotency-Key: {key}")));
        start.wait();
        let path = format!("/api/seckill/{activity}");
        let answer = call(server.public, "POST", &path, &lines, None).expect("answers");
        let ticket = answer.data()["ticket"].as_str().unwrap_or_default().to_owned();
        (answer.status, answer.code(), ticket)
    };
    std::thread::scope(|scope| {
        let clicks: Vec<_> = clicks.iter().map(|one| scope.spawn(|| click(one))).collect();
        clicks.into_iter().map(|one| one.join().expect("no panic")).collect()
    })
}

fn a_hundred_clicks_at_once_take_one_unit(mode: Mode) {
    let settings = [
        ("SECKILL_LIMITS__USER", "1/min burst 60"),
        ("SECKILL_SERVER__TRUSTED_PROXIES", "127.0.0.0/8"),
    ];
    let served = mode.serve(&settings);
    let server = &served.server;
    let activity = server.sale(100, &json!({}));
    let clicks: Vec<_> = (0..100).map(|at| ("a", format!("203.0.113.{at}"), None)).collect();
    let told = at_once(server, activity, &clicks);
    let count = |wanted: (u16, i64)| {
        told.iter()
            .filter(|(status, code, _)| (*status, *code) == wanted)
            .count()
    };
    assert_eq!(
        (count((202, 0)), count((409, 40_004)), count((429, 40_003))),
        (1, 59, 40),
        "{told:?}"
    );
    let clicks: Vec<_> = (0..50)
        .map(|_| ("b", "203.0.113.1".to_owned(), Some("same-key")))
        .collect();
    let told = at_once(server, activity, &clicks);
    let tickets: BTreeSet<_> = told.iter().collect();
    assert_eq!((tickets.len(), told[0].0), (1, 202), "the same ticket: {tickets:?}");
    // Fifty people of one office.
    let names: Vec<_> = (0..50).map(|at| format!("u{at}")).collect();
    let clicks: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), "203.0.113.1".to_owned(), None))
        .collect();
    let told = at_once(server, activity, &clicks);
    assert!(told.iter().all(|(status, ..)| *status == 202), "{told:?}");
    let books = server.settled(activity);
    assert_eq!(
        (&books["balanced"], &books["stock_left"]),
        (&json!(true), &json!(48)),
        "{books}"
    );
}

#[test]
fn guesses_of_the_operator_s_token_are_slowed_down_and_lock_nobody_out() {
    guesses_of_the_operator_s_token_are_slowed_down(Mode::OneProcess);
    guesses_of_the_operator_s_token_are_slowed_down(Mode::Redis);
}

#[test]
fn forged_addresses_change_nothing_about_an_address_s_limit() {
    forged_addresses_change_nothing(Mode::OneProcess);
    forged_addresses_change_nothing(Mode::Redis);
}

#[test]
fn behind_a_trusted_proxy_the_rightmost_untrusted_hop_is_limited() {
    behind_a_trusted_proxy_the_rightmost_hop_is_limited(Mode::OneProcess);
    behind_a_trusted_proxy_the_rightmost_hop_is_limited(Mode::Redis);
}

#[test]
fn a_hundred_clicks_at_once_take_one_unit_and_a_limit_follows_the_user_over_all_addresses() {
    a_hundred_clicks_at_once_take_one_unit(Mode::OneProcess);
    a_hundred_clicks_at_once_take_one_unit(Mode::Redis);
}
