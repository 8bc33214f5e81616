//! `seckill switches`, `blocks` and `dead-letters`: what an operator turns from a shell while a sale runs.

use rusqlite::Connection;
use seckill_testkit::Server;
use serde_json::json;

use crate::newcomer::{ask, document, run};
use crate::program;

fn code(server: &Server, user: &str) -> i64 {
    server.buy(1, user, user).expect("answers").code()
}

#[test]
fn the_entrance_is_shut_for_a_while_after_it_was_told_who_would_hear_what() {
    let server = Server::start(&program());
    let _ = server.sale(9, &json!({}));
    let shut = ["switches", "set", "entry_open=false"];
    let (exit, stdout, stderr) = ask(&server, &[&shut[..], &["--dry-run"]].concat());
    assert_eq!(exit, 0, "{stderr}");
    for said in [
        "entry_open: true -> false",
        "every buyer: hears 40006",
        "nothing was changed",
    ] {
        assert!(stdout.contains(said), "{said}: {stdout}");
    }
    let same = ["switches", "set", "entry_open=true", "--dry-run"];
    let (_, stdout, _) = ask(&server, &same);
    assert!(
        stdout.contains("entry_open: true as it is, would not change"),
        "{stdout}"
    );
    assert_eq!(code(&server, "alice"), 0);
    let (exit, stdout, stderr) = ask(&server, &[&shut[..], &["--for", "1h", "--revision", "0"]].concat());
    assert_eq!(exit, 0, "{stderr}");
    let lines: Vec<_> = stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .collect();
    assert!(
        lines.contains(&vec!["entry_open", "false", "<-", "set", "now"]),
        "{stdout}"
    );
    assert_eq!(stdout.matches("<- set now").count(), 1, "{stdout}");
    assert!(stdout.contains("to entry_open=true"), "{stdout}");
    assert_eq!(code(&server, "bob"), 40006);
    let (exit, _, stderr) = ask(&server, &["switches", "set", "entry_open=true", "--revision", "0"]);
    assert!(exit == 1 && stderr.contains("1 is in force"), "{stderr}");
    ask(
        &server,
        &[
            "switches",
            "set",
            "entry_open=true",
            "challenge=token",
            "limits.user=20/s burst 40",
        ],
    );
    assert_eq!(code(&server, "bob"), 40301);
    let (exit, stdout, _) = ask(&server, &["switches", "show", "--json"]);
    let switches = document(&stdout);
    assert_eq!(
        (exit, &switches["challenge"], &switches["returns"]),
        (0, &json!("token"), &json!([]))
    );
    assert_eq!(switches["limits"]["user"], "20/s burst 40");
    ask(&server, &["switches", "set", "challenge=null", "limits.user=null"]);
    let (_, stdout, _) = ask(&server, &["switches", "show"]);
    assert!(
        stdout.contains("null (as each sale says)") && stdout.contains("null (off)"),
        "{stdout}"
    );
    let derived = "160000 (80 % of backlog_max: nobody has set it)";
    assert!(stdout.contains(derived), "{stdout}");
    let (_, stdout, _) = ask(&server, &["switches", "set", "backlog_resume=160000"]);
    assert!(stdout.contains("160000   <- set now\n"), "{stdout}");
    assert_eq!(code(&server, "bob"), 0);
}

#[test]
fn what_is_no_switch_is_refused_before_any_server_is_asked() {
    for (arguments, named) in [
        (&["entry-open=false"][..], "entry-open"),
        (&["entry_open"], "NAME=VALUE"),
        (
            &[
                "entry_open=false",
                "--for",
                "1h",
                "--expires-at",
                "2035-01-01T00:00:00Z",
            ],
            "--for",
        ),
        (
            &["entry_open=false", "--expires-at", "2035-01-01T00:00:00"],
            "has no offset",
        ),
        (&[], "NAME=VALUE"),
    ] {
        let nowhere = ["--admin", "127.0.0.1:9"];
        let (exit, _, stderr) = run(&[&["switches", "set"], arguments, &nowhere].concat(), &[]);
        assert!(exit == 2 && stderr.contains(named), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_user_is_blocked_listed_and_let_in_again() {
    let server = Server::start(&program());
    let _ = server.sale(9, &json!({}));
    let add = [
        "blocks",
        "add",
        "user",
        "mallory",
        "--reason",
        "scalper",
        "--expires-at",
        "2035-01-01T08:00:00+08:00",
    ];
    let (exit, stdout, stderr) = ask(&server, &add);
    assert_eq!(exit, 0, "{stderr}");
    let row = "   1  user    mallory  until 2035-01-01T00:00:00.000Z  scalper";
    assert!(stdout.contains(row), "{stdout}");
    assert_eq!([code(&server, "mallory"), code(&server, "alice")], [40300, 0]);
    let (exit, _, stderr) = ask(&server, &["blocks", "add", "ip", "0.0.0.0/0"]);
    assert!(exit == 2 && stderr.contains("--force"), "{stderr}");
    ask(&server, &["blocks", "add", "ip", "203.0.113.7/24", "--for", "1h"]);
    let (_, stdout, _) = ask(&server, &["blocks", "add", "user", "mallory", "--reason", "again"]);
    assert!(
        stdout.contains("   1  user    mallory  until removed  again"),
        "{stdout}"
    );
    ask(&server, &add);
    let (_, stdout, _) = ask(&server, &["blocks", "list"]);
    assert!(stdout.contains(row) && stdout.contains("203.0.113.0/24"), "{stdout}");
    let (exit, stdout, stderr) = ask(&server, &["blocks", "remove", "user", "mallory"]);
    assert_eq!((exit, stdout.trim()), (0, "removed: block 1"), "{stderr}");
    assert_eq!(code(&server, "mallory"), 0);
    let (exit, stdout, _) = ask(&server, &["blocks", "remove", "2", "--json"]);
    assert_eq!((exit, document(&stdout)), (0, json!({"removed": [2]})));
    let (exit, _, stderr) = ask(&server, &["blocks", "remove", "user", "mallory"]);
    assert!(exit == 1 && stderr.contains("(user mallory)"), "{stderr}");
    assert_eq!(ask(&server, &["blocks", "remove", "mallory"]).0, 2);
    let (_, stdout, _) = ask(&server, &["blocks", "list", "--json"]);
    assert_eq!(document(&stdout), json!([]));
}

#[test]
fn a_blocked_buyer_pays_the_order_that_he_has_and_buys_no_other() {
    let server = Server::start(&program());
    let activity = server.sale(9, &json!({}));
    assert_eq!(code(&server, "alice"), 0);
    let _ = server.settled(activity);
    ask(&server, &["blocks", "add", "user", "alice"]);
    assert_eq!(code(&server, "alice"), 40300);
    let asked = |method, path: &str| server.as_user("alice", method, path, None).expect("answers");
    assert_eq!(asked("GET", "/api/seckill/result/1").code(), 1);
    let paid = asked("POST", "/api/orders/S1-1-1/pay");
    assert_eq!((paid.status, &paid.data()["state"]), (200, &json!("paid")), "{paid:?}");
}

#[test]
fn of_a_database_that_cannot_be_used_the_operator_hears_by_name_and_buyers_in_the_sentence_for_all_that() {
    let server = Server::start(&program());
    let activity = server.sale(9, &json!({}));
    assert_eq!(code(&server, "alice"), 0);
    let _ = server.settled(activity);
    let database = Connection::open(server.data().join("seckill.db")).expect("opens");
    database.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    let (exit, _, stderr) = ask(&server, &["switches", "set", "backlog_max=9"]);
    let named = "503 50300: The database cannot be used now; nothing was changed";
    assert!(exit == 4 && stderr.contains(named), "{stderr}");
    let paid = server.as_user("alice", "POST", "/api/orders/S1-1-1/pay", None);
    let paid = paid.expect("answers").json;
    let said = ["code", "message", "data"].map(|member| paid[member].clone());
    assert_eq!(said, [json!(50300), json!("活动太火爆，请稍后再试"), json!(null)]);
    database.execute_batch("ROLLBACK").expect("unlocked");
}

#[test]
fn a_dead_letter_is_listed_retried_and_another_discarded() {
    let server = Server::start(&program());
    let activity = server.sale(9, &json!({}));
    assert_eq!(ask(&server, &["dead-letters", "list"]).1, "no dead letters\n");
    let database = Connection::open(server.data().join("seckill.db")).expect("opens");
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON orders BEGIN SELECT RAISE(ABORT, 'nobody_called_so'); END";
    database.execute_batch(refuse).expect("made");
    for user in ["alice", "bob"] {
        assert_eq!(code(&server, user), 0);
    }
    let dead = || ask(&server, &["dead-letters", "list", "--json"]).1;
    let _both = server.until(|| document(&dead()).as_array().map(Vec::len), |count| *count == Some(2));
    let said = ask(&server, &["dead-letters", "list"]).1;
    let words = ["of alice, 1 units", "nobody_called_so"];
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
    database.execute_batch("DROP TRIGGER refuse").expect("removed");
    let letters = document(&dead());
    let letter = |user: &str| {
        let letters = letters.as_array().expect("a list");
        let letter = letters.iter().find(|letter| letter["user_id"] == user);
        letter.expect("is there")["id"].to_string()
    };
    let (exit, _, stderr) = ask(&server, &["dead-letters", "retry", &letter("alice")]);
    assert_eq!(exit, 0, "{stderr}");
    let discard = ["dead-letters", "discard", &letter("bob"), "--reason", "paid elsewhere"];
    let (exit, stdout, stderr) = ask(&server, &discard);
    assert!(exit == 0 && stdout.contains("discarded"), "{stdout}{stderr}");
    let books = server.settled(activity);
    let figures = ["balanced", "orders_live", "dead", "failed"].map(|name| books[name].clone());
    assert_eq!(figures, [json!(true), json!(1), json!(0), json!(1)], "{books}");
}
