//! `seckill activity create` on servers of both kinds, and what its flags are refused for.

use rusqlite::Connection;
use seckill_testkit::{Redis, Server, text};
use serde_json::json;

use crate::newcomer::{ask, document, read};
use crate::program;

pub(crate) const CREATE: [&str; 8] = [
    "activity",
    "create",
    "--title",
    "Launch",
    "--price-cents",
    "9900",
    "--stock",
    "10",
];
pub(crate) const WINDOW: [&str; 4] = [
    "--starts-at",
    "2026-01-01T00:00:00+08:00",
    "--ends-at",
    "2036-01-01T00:00:00+08:00",
];

#[test]
fn a_sale_in_shards_is_made_on_a_shared_store_and_refused_on_the_embedded_one_without_leaving_a_product() {
    let create = [&CREATE[..], &WINDOW, &["--shards", "4"]].concat();
    let redis = Redis::start();
    let server = Server::start_with(&program(), &[("SECKILL_STORE__URL", &redis.url())]);
    let (code, _, stderr) = ask(&server, &create);
    assert_eq!(code, 0, "{stderr}");
    let (_, stdout, _) = ask(&server, &["activity", "show", "1", "--json"]);
    assert_eq!(document(&stdout)["shards"], 4);
    let alone = Server::start(&program());
    let (code, _, stderr) = ask(&alone, &create);
    assert!(code == 2 && stderr.contains("shards"), "{code}: {stderr}");
    let products = alone.as_admin("GET", "/admin/api/products", None);
    assert_eq!(products.data()["products"], json!([]));
}

#[test]
fn a_moment_without_its_offset_is_refused_and_written_out_in_the_machines_zone() {
    let server = Server::start(&program());
    let times = [
        "--starts-at",
        "2026-07-01T20:00:00",
        "--ends-at",
        "2036-01-01T00:00:00Z",
    ];
    let admin = server.admin.to_string();
    let create = [&CREATE[..], &times, &["--admin", &admin]].concat();
    let mut command = program().command(server.folder.path(), &create);
    let output = command.env("TZ", "Asia/Shanghai").output().expect("starts");
    let (code, _, stderr) = read(&output);
    assert_eq!(code, 2);
    let hint = "`2026-07-01T20:00:00` has no offset: in this machine's time zone it would be 2026-07-01T20:00:00+08:00";
    for said in ["--starts-at: must be a moment of RFC 3339", hint, "nothing was made"] {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
}

#[test]
fn the_public_port_in_place_of_the_admin_port_is_told_so() {
    let server = Server::start(&program());
    let public = format!("http://{}", server.public);
    for command in [
        &["check"][..],
        &["activity", "list"],
        &["activity", "pause", "1"],
        &["audit", "1"],
    ] {
        let arguments = [command, &["--admin", &public]].concat();
        let (code, _, stderr) = read(&program().run(server.folder.path(), &arguments));
        assert!(
            code == 1 && stderr.contains("is no admin port"),
            "{command:?}: {stderr}"
        );
    }
    // A sale that is not there is none of that.
    let (_, _, stderr) = ask(&server, &["activity", "show", "9"]);
    assert!(!stderr.contains("admin port"), "{stderr}");
}

#[test]
fn a_build_that_was_told_no_revision_says_none() {
    let server = Server::start(&program());
    let page = text(server.admin, "/metrics").expect("answers");
    let line = page
        .lines()
        .find(|line| line.starts_with("seckill_build_info{"))
        .expect("told");
    assert!(line.contains("version=\"") && !line.contains("unknown"), "{line}");
}

/// Status and, of a refusal, its code.
pub(crate) fn buys(server: &Server, activity: u64, user: &str) -> (u16, i64) {
    let answer = server.buy(activity, user, "k").expect("answers");
    (answer.status, answer.code())
}

#[test]
fn moments_are_told_in_utc_whatever_zone_the_machine_is_in() {
    let server = Server::start(&program());
    let admin = server.admin.to_string();
    let told = |arguments: &[&str]| {
        let arguments = [arguments, &["--admin", &admin]].concat();
        let mut command = program().command(server.folder.path(), &arguments);
        read(&command.env("TZ", "Asia/Shanghai").output().expect("starts"))
    };
    let create = [&CREATE[..], &WINDOW].concat();
    for command in [
        &create[..],
        &["activity", "show", "1"],
        &["activity", "list"],
        &["activity", "pause", "1", "--until", "2035-06-01T08:00:00+08:00"],
        &["check", "1"],
    ] {
        let (_, stdout, stderr) = told(command);
        assert!(
            !stdout.contains("+0") && !stdout.contains("T08:"),
            "{command:?}: {stdout}{stderr}"
        );
        assert!(stdout.contains(":00:00.000Z"), "{command:?}: {stdout}{stderr}");
    }
}

/// A server with a sale that begins, and is preheated, long after today.
fn with_a_sale_of_2035() -> Server {
    let server = Server::start(&program());
    let window = [
        "--starts-at",
        "2035-01-01T00:00:00Z",
        "--ends-at",
        "2036-01-01T00:00:00Z",
    ];
    let (code, _, stderr) = ask(&server, &[&CREATE[..], &window].concat());
    assert_eq!(code, 0, "{stderr}");
    server
}

#[test]
fn a_paused_sale_that_was_never_preheated_is_said_to_wait_for_its_start() {
    let server = with_a_sale_of_2035();
    let (code, stdout, stderr) = ask(&server, &["activity", "pause", "1"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("phase     paused"), "{stdout}");
    let expected = "no; by itself from 10m before the start on (schedule.preheat_before), paused or not, or now: `seckill preheat 1`";
    assert!(stdout.contains(expected), "{stdout}");
}

#[test]
fn without_a_database_a_sale_that_was_never_preheated_is_not_paused_and_what_can_be_shut_is_named() {
    let server = with_a_sale_of_2035();
    let database = Connection::open(server.data().join("seckill.db")).expect("opens");
    database.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    let (code, _, stderr) = ask(&server, &["activity", "pause", "1"]);
    let way_out = "`seckill switches set entry_open=false`";
    assert!(code == 4 && stderr.contains(way_out), "{code}: {stderr}");
    let named = "503 50300: The database cannot be used now;";
    assert!(stderr.contains(named), "{stderr}");
    let (code, stdout, stderr) = ask(&server, &["switches", "set", "entry_open=false"]);
    assert!(
        code == 0 && stdout.contains("the database does not know it yet"),
        "{stdout}{stderr}"
    );
    database.execute_batch("ROLLBACK").expect("unlocked");
}

#[test]
fn a_sale_is_paused_for_a_while_and_resumed_at_a_moment() {
    let server = Server::start(&program());
    let _ = server.sale(3, &json!({}));
    let (code, stdout, stderr) = ask(&server, &["activity", "pause", "1", "--for", "1h"]);
    assert!(code == 0 && stdout.contains("\nresumes   20"), "{stdout}{stderr}");
    assert_eq!(buys(&server, 1, "alice").1, 40006);
    let (code, stdout, stderr) = ask(
        &server,
        &["activity", "resume", "1", "--at", "2035-01-01T08:00:00+08:00"],
    );
    assert!(
        code == 0 && stdout.contains("resumes   2035-01-01T00:00:00.000Z"),
        "{stdout}{stderr}"
    );
    for (arguments, named) in [
        (&["pause", "1", "--for", "soon"][..], "--for"),
        (&["resume", "1", "--at", "2035-01-01T08:00:00"], "has no offset"),
        (&["change", "1"], "--title"),
    ] {
        let (code, _, stderr) = ask(&server, &[&["activity"], arguments].concat());
        assert!(code == 2 && stderr.contains(named), "{arguments:?}: {stderr}");
    }
    ask(&server, &["activity", "resume", "1"]);
    assert_eq!(buys(&server, 1, "alice").1, 0);
}
