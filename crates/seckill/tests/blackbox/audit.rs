//! The audit notices what was taken away by hand, and `reconcile` names whose it was.

use std::process::Output;

use rusqlite::Connection;
use seckill_testkit::{Server, text};
use serde_json::json;

use crate::program;

/// A server that sold three units to a, b and c, all settled.
fn sold_three() -> (Server, u64) {
    let server = Server::start(&program());
    let activity = server.sale(10, &json!({}));
    for user in ["a", "b", "c"] {
        assert_eq!(server.buy(activity, user, "k").expect("answers").status, 202);
    }
    assert_eq!(server.settled(activity)["balanced"], true);
    (server, activity)
}

fn ask(server: &Server, arguments: &[&str]) -> Output {
    let admin = server.admin.to_string();
    let arguments: Vec<_> = arguments.iter().copied().chain(["--admin", &admin]).collect();
    program().run(server.folder.path(), &arguments)
}

fn assert_noticed(server: &Server, activity: u64, user: &str) {
    let id = activity.to_string();
    let audit = ask(server, &["audit", &id]);
    assert_eq!(audit.status.code(), Some(3), "{audit:?}");
    let reconcile = ask(server, &["reconcile", &id]);
    let said = String::from_utf8_lossy(&reconcile.stdout).into_owned();
    assert_eq!(reconcile.status.code(), Some(3), "{reconcile:?}");
    assert!(said.contains(&format!("user={user} ")), "{said}");
    assert!(
        ["a", "b", "c"]
            .iter()
            .filter(|other| **other != user)
            .all(|other| !said.contains(&format!("user={other} "))),
        "{said}"
    );
}

#[test]
fn a_balanced_sale_exits_0_and_reconciles_clean() {
    let (server, activity) = sold_three();
    let id = activity.to_string();
    assert_eq!(ask(&server, &["audit", &id]).status.code(), Some(0));
    assert_eq!(ask(&server, &["reconcile", &id]).status.code(), Some(0));
    let json = ask(&server, &["--json", "audit", &id]);
    let audit: serde_json::Value = serde_json::from_slice(&json.stdout).expect("one JSON document");
    assert_eq!(
        (audit["orders_live"].as_u64(), audit["stock_left"].as_u64()),
        (Some(3), Some(7))
    );
}

#[test]
fn checklist_exits_0_before_a_sale_and_3_where_something_would_spoil_it() {
    let (server, activity) = sold_three();
    let id = activity.to_string();
    let fine = ask(&server, &["check", &id]);
    let said = String::from_utf8_lossy(&fine.stdout).into_owned();
    assert_eq!(fine.status.code(), Some(0), "{fine:?}");
    for (area, words) in [("stock", "7 units are in place"), ("disk", ""), ("payments", "")] {
        let is_it = |line: &&str| line.starts_with("passed") && line.contains(area) && line.contains(words);
        assert!(said.lines().any(|line| is_it(&line)), "{area}: {said}");
    }
    assert_eq!(ask(&server, &["activity", "pause", &id]).status.code(), Some(0));
    let paused = ask(&server, &["--json", "check", &id]);
    let list: serde_json::Value = serde_json::from_slice(&paused.stdout).expect("one JSON document");
    assert_eq!((paused.status.code(), &list["passed"]), (Some(3), &json!(false)));
    assert_eq!(ask(&server, &["check"]).status.code(), Some(0), "the node alone");
}

/// The value of a line of the metrics; none where there is no such line.
fn metric(server: &Server, line: &str) -> Option<f64> {
    let page = text(server.admin, "/metrics").expect("answers");
    let value = page
        .lines()
        .find_map(|found| found.strip_prefix(line)?.strip_prefix(' '));
    value.map(|value| value.parse().expect("a number"))
}

#[test]
fn metrics_tell_the_last_audit_the_fence_and_how_long_the_store_takes() {
    let (server, activity) = sold_three();
    let balanced = format!("seckill_audit_balanced{{activity=\"{activity}\"}}");
    assert_eq!(metric(&server, &balanced), Some(1.0));
    assert!(metric(&server, "seckill_store_command_duration_seconds_count").is_some_and(|steps| 4.0 < steps));
    let fenced = format!("seckill_activity_fenced{{activity=\"{activity}\"}}");
    let path = format!("/admin/api/activities/{activity}/pause");
    assert_eq!(server.as_admin("POST", &path, Some(&json!({}))).status, 200);
    assert_eq!(metric(&server, &fenced), Some(0.0), "paused is not fenced");
    let database = Connection::open(server.data().join("seckill.db")).expect("the database");
    database.pragma_update(None, "foreign_keys", false).expect("a setting");
    database
        .execute("DELETE FROM orders WHERE user_id = 'b'", [])
        .expect("deleted");
    assert_eq!(ask(&server, &["audit", &activity.to_string()]).status.code(), Some(3));
    assert_eq!(metric(&server, &balanced), Some(0.0));
}

#[test]
fn an_order_row_deleted_by_hand_is_noticed_and_its_user_named() {
    let (mut server, activity) = sold_three();
    server.terminate();
    let database = Connection::open(server.data().join("seckill.db")).expect("the database");
    let deleted = database
        .execute("DELETE FROM orders WHERE user_id = ?1", ["b"])
        .expect("deleted");
    assert_eq!(deleted, 1);
    drop(database);
    server.start_again();
    assert_noticed(&server, activity, "b");
}

#[test]
fn a_buyers_entry_erased_by_hand_is_noticed_and_its_user_named() {
    let (mut server, activity) = sold_three();
    server.terminate();
    let data = server.data();
    let erased = program().run(
        server.folder.path(),
        &[
            "journal",
            "--data-dir",
            &data.to_string_lossy(),
            "erase-buyer",
            "--yes",
            &activity.to_string(),
            "c",
        ],
    );
    assert_eq!(erased.status.code(), Some(0), "{erased:?}");
    server.start_again();
    assert_noticed(&server, activity, "c");
}
