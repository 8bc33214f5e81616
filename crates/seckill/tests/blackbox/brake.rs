//! The emergency brake: pausing works while somebody else holds the database, survives a kill, and reaches the database afterwards.

use std::thread;

use rusqlite::Connection;
use seckill_testkit::Server;
use serde_json::{Value, json};

use crate::program;

/// Takes the database for itself until it is dropped.
fn lock(server: &Server) -> Connection {
    let connection = Connection::open(server.data().join("seckill.db")).expect("the database");
    // Workers and scheduler write now and then.
    connection
        .busy_timeout(std::time::Duration::from_secs(20))
        .expect("a setting");
    connection.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    connection
}

/// Status of the sale by the database itself.
fn row(server: &Server, activity: u64) -> String {
    let connection = Connection::open(server.data().join("seckill.db")).expect("the database");
    let sql = "SELECT status FROM activities WHERE id = ?1";
    connection
        .query_row(sql, [activity.cast_signed()], |row| row.get(0))
        .expect("the row")
}

fn is_pending(server: &Server, activity: u64) -> bool {
    let shown = server.as_admin("GET", &format!("/admin/api/activities/{activity}"), None);
    shown.data()["ledger_pending"] == true
}

fn code_of(server: &Server, activity: u64, user: &str) -> i64 {
    server.buy(activity, user, "k").expect("answers").code()
}

fn pause(server: &Server, activity: u64) -> Value {
    let paused = server.as_admin(
        "POST",
        &format!("/admin/api/activities/{activity}/pause"),
        Some(&json!({})),
    );
    assert_eq!(paused.status, 200, "{paused:?}");
    paused.data().clone()
}

/// The scheduler does it by itself, with nobody asking again.
fn wait_until_written(server: &Server, activity: u64) {
    server.until(|| is_pending(server, activity), |is_pending| !is_pending);
    assert_eq!(row(server, activity), "paused");
}

#[test]
fn a_pause_holds_while_the_database_is_locked_and_is_written_when_it_is_free() {
    let server = Server::start(&program());
    let activity = server.sale(20, &json!({}));
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
    let locked = lock(&server);
    let paused = pause(&server, activity);
    assert_eq!(
        (&paused["status"], &paused["ledger_pending"]),
        (&json!("paused"), &json!(true))
    );
    assert_eq!(code_of(&server, activity, "b"), 40006);
    let shown = server
        .as_user("b", "GET", &format!("/api/activities/{activity}"), None)
        .expect("answers");
    assert_eq!(shown.data()["phase"], "paused");
    assert_eq!(row(&server, activity), "running");
    drop(locked);
    wait_until_written(&server, activity);
    assert_eq!(code_of(&server, activity, "c"), 40006);
    let resumed = server.as_admin(
        "POST",
        &format!("/admin/api/activities/{activity}/resume"),
        Some(&json!({})),
    );
    assert_eq!((resumed.status, &resumed.data()["status"]), (200, &json!("running")));
    assert_eq!(server.buy(activity, "b", "k").expect("answers").status, 202);
    assert_eq!(server.settled(activity)["balanced"], true);
}

#[test]
fn a_pause_without_the_database_survives_a_kill() {
    let mut server = Server::start(&program());
    let activity = server.sale(20, &json!({}));
    let locked = lock(&server);
    assert_eq!(pause(&server, activity)["ledger_pending"], true);
    server.kill();
    assert_eq!(row(&server, activity), "running");
    drop(locked);
    server.start_again();
    assert_eq!(code_of(&server, activity, "a"), 40006);
    wait_until_written(&server, activity);
    assert_eq!(code_of(&server, activity, "b"), 40006);
}

#[test]
fn switches_that_shut_the_entrance_need_no_database_and_survive_a_kill() {
    let mut server = Server::start(&program());
    let activity = server.sale(20, &json!({}));
    let locked = lock(&server);
    let shut = server.as_admin("PATCH", "/admin/api/switches", Some(&json!({"entry_open": false})));
    assert_eq!(
        (shut.status, &shut.data()["ledger_pending"]),
        (200, &json!(true)),
        "{shut:?}"
    );
    assert_eq!(code_of(&server, activity, "a"), 40006);
    let open = server.as_admin("PATCH", "/admin/api/switches", Some(&json!({"entry_open": true})));
    assert_eq!(open.status, 503, "{open:?}");
    server.kill();
    drop(locked);
    server.start_again();
    assert_eq!(code_of(&server, activity, "a"), 40006);
    let switches = || server.as_admin("GET", "/admin/api/switches", None);
    server.until(switches, |switches| switches.data()["ledger_pending"] == false);
    let open = server.as_admin("PATCH", "/admin/api/switches", Some(&json!({"entry_open": true})));
    assert_eq!((open.status, &open.data()["revision"]), (200, &json!(2)), "{open:?}");
    assert_eq!(server.buy(activity, "a", "k").expect("answers").status, 202);
}

#[test]
fn the_entrance_is_shut_before_changes_that_wait_for_the_database() {
    let server = Server::start(&program());
    let activity = server.sale(1_000_000, &json!({}));
    let _locked = lock(&server);
    let patch = |change: Value| server.as_admin("PATCH", "/admin/api/switches", Some(&change)).status;
    thread::scope(|scope| {
        let change = || patch(json!({"limits": {"device": "5/s burst 10"}}));
        let waiting: Vec<_> = (0..2).map(|_| scope.spawn(change)).collect();
        // Purchases enough for the changes to be on their way; the sale goes on meanwhile.
        let mut buyers = (0..).map(|number| format!("u{number}"));
        let mut code = || code_of(&server, activity, &buyers.next().expect("endless"));
        assert!((0..100).all(|_| code() == 0));
        let shut = scope.spawn(|| patch(json!({"entry_open": false})));
        while code() == 0 {}
        let still_waiting = waiting.iter().filter(|change| !change.is_finished()).count();
        assert!(0 < still_waiting, "the entrance was shut after all other changes");
        assert_eq!(shut.join().expect("answered"), 200);
    });
}

#[test]
fn what_was_refused_for_a_locked_database_is_not_done_when_it_is_free() {
    let server = Server::start(&program());
    let block = &|user: &str| {
        let block = json!({"kind": "user", "value": user, "reason": "told to ask again"});
        server.as_admin("POST", "/admin/api/blocks", Some(&block))
    };
    let locked = lock(&server);
    // One waits for the lock, the other one behind it.
    let refused = thread::scope(|scope| {
        ["one", "two"]
            .map(|user| scope.spawn(move || block(user)))
            .map(|asked| asked.join().expect("asked"))
    });
    for refused in refused {
        assert_eq!((refused.status, refused.code()), (503, 50300), "{refused:?}");
    }
    drop(locked);
    // Written by the same thread, behind whatever waited there.
    server.until(|| block("taken").status, |status| *status == 201);
    let shown = server.as_admin("GET", "/admin/api/blocks", None);
    let blocks = shown.data()["blocks"].as_array().expect("a list");
    let users: Vec<_> = blocks.iter().map(|block| &block["value"]).collect();
    assert_eq!(users, ["taken"], "{shown:?}");
}
