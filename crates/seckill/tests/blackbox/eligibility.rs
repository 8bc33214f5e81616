//! Sales that are for those on a list: on every node, while a list is on its way, and when that way is cut.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use seckill_testkit::{Answer, Postgres, Server, call};
use serde_json::{Value, json};

use crate::program;
use crate::shop::{API, SCHEDULER, Shop};

fn path(activity: u64) -> String {
    format!("/admin/api/activities/{activity}/eligibility")
}

/// An upload whose body has not come yet, but for its beginning.
fn begin(server: &Server, activity: u64, list: &str, sent: usize) -> TcpStream {
    let mut stream = TcpStream::connect(server.admin).expect("connects");
    let (path, token, length) = (path(activity), server.admin_token(), list.len());
    write!(
        stream,
        "PUT {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{}",
        &list[..sent]
    )
    .expect("takes it");
    stream
}

/// Status and body of the answer.
fn end(mut stream: TcpStream) -> (u16, Value) {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let json = serde_json::from_str(body);
    (status.expect("a status"), json.unwrap_or_default())
}

fn put(server: &Server, activity: u64, list: &str) -> (u16, Value) {
    end(begin(server, activity, list, list.len()))
}

/// The list in force, as the operator sees it.
fn shown(server: &Server, activity: u64) -> Value {
    server.as_admin("GET", &path(activity), None).data()["list"].clone()
}

fn users(count: usize) -> String {
    (0..count).map(|n| format!("user-{n}\n")).collect()
}

fn code(server: &Server, activity: u64, user: &str) -> i64 {
    server.buy(activity, user, "k").expect("answers").code()
}

#[test]
fn a_sale_for_some_is_for_them_on_every_node_and_after_a_restart() {
    let database = Postgres::fresh();
    let mut shop = Shop::new(database.url()).with(&[API, API, SCHEDULER]);
    let activity = shop.nodes[0].sale(20, &json!({}));
    shop.nodes[1].knows(activity);
    let buy = |node: &Server, user: &str| node.buy(activity, user, "k").expect("answers");
    let reason = |answer: &Answer| (answer.status, answer.data()["reason"].clone());
    let listed: String = (0..5_000).map(|n| format!("member-{n}\n")).collect();
    let (status, answer) = put(&shop.nodes[0], activity, &listed);
    assert_eq!(
        (status, &answer["data"]["list"]["users"]),
        (200, &json!(5_000)),
        "{answer}"
    );
    let not_eligible = (403, json!("not_eligible"));
    assert_eq!(reason(&buy(&shop.nodes[0], "stranger")), not_eligible);
    assert_eq!(buy(&shop.nodes[0], "member-1").status, 202);
    shop.nodes[1].until(
        || reason(&buy(&shop.nodes[1], "late-stranger")),
        |reason| *reason == not_eligible,
    );
    assert_eq!(buy(&shop.nodes[1], "member-2").status, 202);
    let (status, answer) = put(&shop.nodes[0], activity, "member-3\nnot a member\n");
    assert!(
        status == 400 && answer["detail"].to_string().contains("line 2"),
        "{answer}"
    );
    let page = call(
        shop.nodes[1].public,
        "GET",
        &format!("/api/activities/{activity}"),
        &[],
        None,
    );
    assert_eq!(page.expect("answers").data()["eligibility"], "list");
    assert!(shop.nodes[1].terminate().success());
    shop.nodes[1].start_again();
    assert_eq!(reason(&buy(&shop.nodes[1], "stranger")), not_eligible);
    assert_eq!(buy(&shop.nodes[1], "member-4999").status, 202);
}

#[test]
fn a_million_users_are_put_in_while_others_buy_and_not_one_more() {
    let mut server = Server::start(&program());
    let activity = server.sale(20, &json!({}));
    assert_eq!(put(&server, activity, "old\n").0, 200);
    let (listed, ended) = (users(1_000_000), AtomicBool::new(false));
    let heard: Vec<i64> = thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut heard = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                heard.push(code(&server, activity, "stranger"));
            }
            heard
        });
        let (status, answer) = put(&server, activity, &listed);
        assert_eq!(
            (status, &answer["data"]["list"]["users"]),
            (200, &json!(1_000_000)),
            "{answer}"
        );
        ended.store(true, Ordering::Relaxed);
        asking.join().expect("no panic")
    });
    assert!(
        !heard.is_empty() && heard.iter().all(|code| *code == 40_300),
        "{heard:?}"
    );
    assert_eq!(
        ["old", "user-0", "user-999999"].map(|user| code(&server, activity, user)),
        [40_300, 0, 0]
    );
    let before = shown(&server, activity);
    let (status, answer) = put(&server, activity, &format!("{listed}one-more"));
    let detail = answer["detail"].to_string();
    assert!(status == 400 && detail.contains("line 1000001"), "{answer}");
    assert_eq!(shown(&server, activity), before);
    server.kill();
    server.spawn();
    let looks_again = || {
        if let Ok(answer) = server.buy(activity, "stranger", "k") {
            assert!([40_300, 50_303].contains(&answer.code()), "{answer:?}");
        }
        call(server.admin, "GET", "/readyz", &[], None).map_or(0, |answer| answer.status)
    };
    let _ready = server.until(looks_again, |status| *status == 200);
    assert_eq!(
        ["stranger", "user-500000"].map(|user| code(&server, activity, user)),
        [40_300, 0]
    );
}

#[test]
fn an_upload_that_breaks_off_changes_nothing_neither_before_nor_after() {
    let server = Server::start(&program());
    let activity = server.sale(20, &json!({}));
    assert_eq!(put(&server, activity, "old-1\nold-2\nold-3\n").0, 200);
    let (before, listed) = (shown(&server, activity), users(1_000));
    for (round, sent) in (1..).zip([0, listed.len() / 2, listed.len() - 1]) {
        let uploading = begin(&server, activity, &listed, sent);
        assert_eq!(code(&server, activity, &format!("old-{round}")), 0);
        assert_eq!(code(&server, activity, "user-1"), 40_300);
        uploading.shutdown(Shutdown::Write).expect("connected");
        let (status, answer) = end(uploading);
        assert!(
            status == 400 && answer["detail"] == "the body broke off",
            "{sent}: {answer}"
        );
        assert_eq!(shown(&server, activity), before);
    }
    let (status, answer) = put(&server, activity, &format!("{listed}{}", "x".repeat(65)));
    assert!(
        status == 400 && answer["detail"].to_string().contains("line 1001"),
        "{answer}"
    );
    assert_eq!(shown(&server, activity), before);
}

/// Also where nobody read the answer, so that nobody knows which of the two it is.
#[test]
fn a_server_that_is_killed_over_an_upload_has_the_old_list_or_the_new_one_whole() {
    let mut server = Server::start(&program());
    let activity = server.sale(20, &json!({}));
    let listed = users(20_000);
    for round in 0..4 {
        assert_eq!(put(&server, activity, "old\n").0, 200);
        let before = shown(&server, activity);
        let whole = round % 2 == 1;
        let sent = if whole { listed.len() } else { listed.len() / 2 };
        let uploading = begin(&server, activity, &listed, sent);
        server.kill();
        drop(uploading);
        server.start_again();
        let after = shown(&server, activity);
        let is_old = after == before;
        assert!(is_old || whole && after["users"] == 20_000, "{after}");
        let (on, off) = if is_old {
            ("old", "user-19999")
        } else {
            ("user-19999", "old")
        };
        assert_eq!(code(&server, activity, off), 40_300);
        assert!([0, 40_004].contains(&code(&server, activity, on)), "{round}");
    }
}
