//! What somebody changed by hand in a shared store or its database, and a row that cannot be written.

use std::process::Output;

use seckill_testkit::{Database, Kind, MariaDbServer, Postgres, PostgresServer, Server};
use serde_json::{Value, json};

use crate::program;
use crate::shop::{API, SCHEDULER, Shop, WORKER};

fn reconcile(node: &Server, activity: u64, fix: &[&str]) -> (Output, Value) {
    let (id, admin) = (activity.to_string(), node.admin.to_string());
    let arguments = [&["--json", "reconcile", &id, "--admin", &admin], fix].concat();
    let output = program().run(node.folder.path(), &arguments);
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("one JSON document: {output:?}"));
    (output, report)
}

/// User, kind, and whether it was put right, of each difference.
fn differences(report: &Value) -> Vec<(String, String, bool)> {
    let text = |value: &Value| value.as_str().unwrap_or("the sale").to_owned();
    let listed = report["differences"].as_array().expect("a list").iter();
    let mut listed: Vec<_> = listed
        .map(|one| (text(&one["user"]), text(&one["kind"]), one["fixed"] == true))
        .collect();
    listed.sort();
    listed
}

fn expected(list: &[(&str, &str, bool)]) -> Vec<(String, String, bool)> {
    let owned = list
        .iter()
        .map(|&(user, kind, fixed)| (user.to_owned(), kind.to_owned(), fixed));
    owned.collect()
}

#[test]
fn each_difference_is_named_with_its_user_and_mended_once_and_what_needs_a_person_stays() {
    let database = Postgres::fresh();
    let shop = Shop::new(database.url()).with(&[API, WORKER, SCHEDULER]);
    let node = &shop.nodes[0];
    let activity = node.sale(10, &json!({}));
    for user in ["a", "b", "c", "d"] {
        assert_eq!(node.buy(activity, user, "k").expect("answers").status, 202);
    }
    assert_eq!(node.settled(activity)["balanced"], true);
    assert_eq!(reconcile(node, activity, &[]).0.status.code(), Some(0));

    // One order is gone without a trace, of another one the record is left, and the store sells two units too many.
    let _ = database.say("DELETE FROM orders WHERE user_id IN ('b', 'c'); DELETE FROM records WHERE user_id = 'b'; UPDATE stock SET available = available + 1");
    let meta = format!("{{a:{activity}:0}}:meta");
    shop.redis.expect(&["HINCRBY", &meta, "left", "2"], ":8");
    let (dry, report) = reconcile(node, activity, &[]);
    let named = |fixed| {
        expected(&[
            ("b", "record_missing", fixed),
            ("c", "order_missing", false),
            ("the sale", "left_too_high", fixed),
        ])
    };
    assert_eq!(
        (dry.status.code(), differences(&report)),
        (Some(3), named(false)),
        "{report}"
    );
    let (first, report) = reconcile(node, activity, &["--fix"]);
    assert_eq!(
        (first.status.code(), differences(&report)),
        (Some(3), named(true)),
        "{report}"
    );
    let _settled = node.until(
        || {
            node.as_user("b", "GET", &format!("/api/seckill/result/{activity}"), None)
                .expect("answers")
                .code()
        },
        |code| *code == 1,
    );
    let figures = || {
        let path = format!("/admin/api/activities/{activity}/audit");
        node.as_admin("GET", &path, None).data().clone()
    };
    let before = node.until(figures, |books| books["queued"] == 0 && !books["balanced"].is_null());
    for _ in 0..2 {
        let (again, report) = reconcile(node, activity, &["--fix"]);
        let left = expected(&[("c", "order_missing", false)]);
        assert_eq!((again.status.code(), differences(&report)), (Some(3), left), "{report}");
        assert_eq!(figures(), before, "nothing is changed");
    }
    assert_eq!(
        (&before["orders_live"], &before["stock_left"]),
        (&json!(3), &json!(6)),
        "{before}"
    );
}

/// A rule that the table did not have refuses one buyer's row, among those of others in the same batch.
fn a_row_that_cannot_be_written_stops_nobody_else<K: Kind>() {
    let database = Database::<K>::fresh();
    let mut shop = Shop::new(database.url()).with(&[API, WORKER, SCHEDULER]);
    let activity = shop.nodes[0].sale(30, &json!({}));
    let _ = database.say("ALTER TABLE orders ADD CONSTRAINT nobody_called_so CHECK (user_id <> 'poison')");
    // All of them wait, so that they are one batch.
    shop.nodes[1].terminate();
    let node = &shop.nodes[0];
    for user in ["a", "poison", "b", "c"] {
        assert_eq!(node.buy(activity, user, "k").expect("answers").status, 202);
    }
    shop.nodes[1].start_again();
    let node = &shop.nodes[0];
    let books = node.settled(activity);
    let figures = ["balanced", "orders_live", "dead", "stock_left"].map(|name| books[name].clone());
    assert_eq!(figures, [json!(true), json!(3), json!(1), json!(26)], "{books}");
    let result = || {
        let path = format!("/api/seckill/result/{activity}");
        let result = node.as_user("poison", "GET", &path, None).expect("answers");
        (result.code(), result.data()["delayed"] == true)
    };
    let _waits = node.until(result, |result| *result == (0, true));
    let letters = node.as_admin("GET", "/admin/api/dead-letters", None);
    let letters = letters.data()["dead_letters"].as_array().cloned().unwrap_or_default();
    assert_eq!(letters.len(), 1, "{letters:?}");
    let reason = letters[0]["reason"].as_str().expect("a reason");
    assert!(
        letters[0]["user_id"] == "poison" && reason.contains("nobody_called_so"),
        "{letters:?}"
    );

    let _ = database.say("ALTER TABLE orders DROP CONSTRAINT nobody_called_so");
    let retry = format!("/admin/api/dead-letters/{}/retry", letters[0]["id"]);
    for _ in 0..2 {
        let retried = node.as_admin("POST", &retry, Some(&json!({})));
        assert_eq!(retried.status, 200, "{retried:?}");
    }
    let _has_it = node.until(result, |(code, _)| *code == 1);
    let books = node.settled(activity);
    let figures = ["balanced", "orders_live", "dead", "stock_left"].map(|name| books[name].clone());
    assert_eq!(figures, [json!(true), json!(4), json!(0), json!(26)], "{books}");
}

#[test]
fn a_row_that_postgresql_refuses_stops_nobody_else() {
    a_row_that_cannot_be_written_stops_nobody_else::<PostgresServer>();
}

#[test]
fn a_row_that_mariadb_refuses_stops_nobody_else() {
    a_row_that_cannot_be_written_stops_nobody_else::<MariaDbServer>();
}
