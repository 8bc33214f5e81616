//! Sales that ask for work or a picture before they give a purchase token: what is used stays used, whatever restarts and whoever is asked.

use std::sync::Barrier;

use seckill_testkit::{Answer, Postgres, Server, work};
use serde_json::{Value, json};

use crate::activity_command::{CREATE, WINDOW};
use crate::program;
use crate::shop::{API, SCHEDULER, Shop, WORKER};

/// Little work, and buyers who may ask as often as a test does.
const SETTINGS: [(&str, &str); 3] = [
    ("SECKILL_CHALLENGE__POW_BITS", "8"),
    ("SECKILL_LIMITS__USER", "off"),
    ("SECKILL_LIMITS__IP", "off"),
];

fn ask(server: &Server, activity: u64, user: &str, body: Option<&Value>) -> Answer {
    let (path, body) = (format!("/api/seckill/{activity}/token"), body.map(Value::to_string));
    let answer = server.as_user(user, "POST", &path, body.as_deref());
    answer.expect("answers")
}

/// A body with the right answer to what is posed to this user now.
fn solved(server: &Server, activity: u64, user: &str) -> Value {
    let posed = ask(server, activity, user, None);
    assert_eq!((posed.status, posed.code()), (200, 0), "{posed:?}");
    let challenge = &posed.data()["challenge"];
    let bits = challenge["bits"].as_u64().and_then(|bits| bits.try_into().ok());
    let answer = work(
        challenge["prefix"].as_str().expect("a prefix"),
        bits.expect("a few bits"),
    );
    json!({"challenge": challenge["id"], "answer": answer})
}

fn buy(server: &Server, activity: u64, user: &str, token: &str) -> Answer {
    let body = json!({ "token": token }).to_string();
    let path = format!("/api/seckill/{activity}");
    server.as_user(user, "POST", &path, Some(&body)).expect("answers")
}

#[track_caller]
fn is_used(answer: &Answer) {
    let tries_left = &answer.data()["tries_left"];
    assert_eq!((answer.status, answer.code()), (403, 40301), "{answer:?}");
    assert_eq!(tries_left, 0);
}

#[test]
fn a_used_challenge_is_used_after_a_crash_and_its_token_still_good() {
    let mut server = Server::start_with(&program(), &SETTINGS);
    let activity = server.sale(5, &json!({"challenge": "pow"}));
    assert_eq!(server.buy(activity, "a", "k").expect("answers").code(), 40301);
    let (used, unused) = (solved(&server, activity, "a"), solved(&server, activity, "b"));
    let issued = ask(&server, activity, "a", Some(&used));
    let token = issued.data()["token"].as_str().expect("a token").to_owned();
    server.kill();
    server.start_again();
    is_used(&ask(&server, activity, "a", Some(&used)));
    assert_eq!(
        ask(&server, activity, "a", Some(&unused)).code(),
        40301,
        "it is another's"
    );
    assert_eq!(ask(&server, activity, "b", Some(&unused)).status, 200);
    assert_eq!(buy(&server, activity, "b", &token).code(), 40301);
    let bought = buy(&server, activity, "a", &token);
    assert_eq!((bought.status, bought.code()), (202, 0), "{bought:?}");
    assert_eq!(server.settled(activity)["orders_live"], 1);
}

#[test]
fn tries_of_a_picture_are_counted_over_a_crash() {
    let mut server = Server::start_with(&program(), &SETTINGS);
    let activity = server.sale(5, &json!({"challenge": "captcha"}));
    let posed = ask(&server, activity, "a", None);
    let challenge = &posed.data()["challenge"];
    assert!(
        challenge["image"]
            .as_str()
            .is_some_and(|image| image.starts_with("<svg "))
    );
    let shown = |challenge: Value| {
        let patched = server.as_admin("PATCH", "/admin/api/switches", Some(&json!({ "challenge": challenge })));
        assert_eq!((patched.status, &patched.data()["challenge"]), (200, &challenge));
        let page = server.as_user("a", "GET", &format!("/api/activities/{activity}"), None);
        page.expect("answers").data()["challenge"].clone()
    };
    assert_eq!([shown(json!("pow")), shown(Value::Null)], ["pow", "captcha"]);
    // No sum is as small as that.
    let wrong = json!({"challenge": challenge["id"], "answer": "7"});
    let tries_left = |server: &Server| ask(server, activity, "a", Some(&wrong)).data()["tries_left"].clone();
    assert_eq!([tries_left(&server), tries_left(&server)], [4, 3]);
    server.kill();
    server.start_again();
    assert_eq!([0; 4].map(|_| tries_left(&server)), [2, 1, 0, 0]);
    assert_eq!(server.settled(activity)["stock_left"], 5);
}

#[test]
fn of_a_hundred_answers_at_two_nodes_one_gets_a_token_and_none_after_the_store_was_killed() {
    let database = Postgres::fresh();
    let mut shop = Shop::new(database.url());
    for (name, value) in SETTINGS {
        shop = shop.setting(name, value);
    }
    let mut shop = shop.with(&[API, API, WORKER, SCHEDULER]);
    let activity = shop.nodes[0].sale(5, &json!({"challenge": "pow"}));
    shop.nodes[1].knows(activity);
    let used = solved(&shop.nodes[0], activity, "a");
    let start = Barrier::new(100);
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let (start, used) = (&start, &used);
        let post = |n: usize| {
            let node = &shop.nodes[n % 2];
            move || {
                start.wait();
                // A busy store may say so: that answer is asked again.
                node.until(|| ask(node, activity, "a", Some(used)), |answer| answer.status != 503)
            }
        };
        let posting: Vec<_> = (0..100).map(|n| scope.spawn(post(n))).collect();
        posting.into_iter().map(|one| one.join().expect("no panic")).collect()
    });
    let (issued, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!(issued.len(), 1, "{issued:?}");
    refused
        .into_iter()
        .for_each(|answer| assert_eq!(answer.code(), 40301, "{answer:?}"));
    let token = issued[0].data()["token"].as_str().expect("a token").to_owned();
    let unused = solved(&shop.nodes[1], activity, "b");
    shop.redis.kill();
    shop.redis.start_again();
    for node in &shop.nodes[..2] {
        let look = || ask(node, activity, "a", Some(&used));
        is_used(&node.until(look, |answer| answer.status != 503));
    }
    let at_the_other = ask(&shop.nodes[0], activity, "b", Some(&unused));
    assert_eq!(at_the_other.status, 200, "{at_the_other:?}");
    let buying = || buy(&shop.nodes[1], activity, "a", &token);
    let bought = shop.nodes[1].until(buying, |answer| answer.status != 503);
    assert_eq!(bought.status, 202, "{bought:?}");
    assert_eq!(shop.nodes[0].settled(activity)["orders_live"], 1);
}

#[test]
fn the_command_line_makes_a_sale_that_asks_for_work() {
    let server = Server::start(&program());
    let create = |challenge: &'static str| {
        let arguments = [&CREATE[..], &WINDOW, &["--challenge", challenge, "--json"]].concat();
        crate::newcomer::ask(&server, &arguments)
    };
    let (code, stdout, stderr) = create("pow");
    assert_eq!(
        (code, &crate::newcomer::document(&stdout)["challenge"]),
        (0, &json!("pow")),
        "{stderr}"
    );
    let (code, _, stderr) = create("riddle");
    assert!(code == 2 && stderr.contains("captcha"), "{stderr}");
}
