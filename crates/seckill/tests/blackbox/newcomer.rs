//! What somebody meets who uses the program for the first time: what commands say, and that a mistake leaves nothing behind.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use seckill_testkit::Server;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program;

pub(crate) fn run(arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
    let folder = TempDir::new().expect("a folder");
    let output = program()
        .command(folder.path(), arguments)
        .envs(environment.iter().copied())
        .output();
    read(&output.expect("starts"))
}

pub(crate) fn ask(server: &Server, arguments: &[&str]) -> (i32, String, String) {
    let admin = server.admin.to_string();
    let arguments: Vec<_> = arguments.iter().copied().chain(["--admin", &admin]).collect();
    read(&program().run(server.folder.path(), &arguments))
}

pub(crate) fn read(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().expect("an exit code");
    (code, text(&output.stdout), text(&output.stderr))
}

pub(crate) fn document(stdout: &str) -> Value {
    serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

const CREATE: [&str; 10] = [
    "activity",
    "create",
    "--title",
    "Launch",
    "--price-cents",
    "9900",
    "--stock",
    "10",
    "--starts-at",
    "2026-01-01T00:00:00+08:00",
];

#[test]
fn an_activity_that_cannot_be_made_leaves_no_product_behind() {
    let server = Server::start(&program());
    for (ends_at, more) in [
        ("tomorrow", None),
        ("2025-01-01T00:00:00+08:00", None),
        ("2036-01-01T00:00:00+08:00", Some(["--per-user-limit", "11"])),
        ("2036-01-01T00:00:00+08:00", Some(["--currency", "yuan"])),
    ] {
        let end = ["--ends-at", ends_at];
        let arguments: Vec<_> = CREATE
            .into_iter()
            .chain(end)
            .chain(more.into_iter().flatten())
            .collect();
        let (code, stdout, stderr) = ask(&server, &arguments);
        let flag = more.map_or("--ends-at", |more| more[0]);
        assert_eq!(
            (code, stdout.as_str(), stderr.contains(flag)),
            (2, "", true),
            "{stderr}"
        );
    }
    let products = server.as_admin("GET", "/admin/api/products", None);
    assert_eq!(products.data()["products"], json!([]));
}

#[test]
fn an_activity_is_told_in_words_with_its_window_in_utc() {
    let server = Server::start(&program());
    let end = ["--ends-at", "2036-01-01T00:00:00+08:00"];
    let create: Vec<_> = CREATE.into_iter().chain(end).collect();
    let (code, stdout, stderr) = ask(&server, &create);
    assert_eq!(code, 0, "{stderr}");
    for said in [
        "activity 1: Launch",
        "2025-12-31T16:00:00.000Z to 2035-12-31T16:00:00.000Z",
        "10 left of 10",
    ] {
        assert!(stdout.contains(said), "{said}: {stdout}");
    }
    let again = ["preheat", "1"];
    ask(&server, &again);
    assert!(ask(&server, &again).1.contains("already preheated; nothing changed"));
    let (_, stdout, _) = ask(&server, &["activity", "show", "1", "--json"]);
    assert_eq!(document(&stdout)["seckill_price_cents"], 9900);
    let (code, stdout, _) = ask(&server, &["audit", "1"]);
    let equation = "10 units = 10 left + 0 queued + 0 dead + 0 in orders + 0 returned";
    assert!(code == 0 && stdout.contains(equation), "{stdout}");
    let (code, stdout, _) = ask(&server, &["reconcile", "1"]);
    assert!(code == 0 && stdout.contains("there are no differences"), "{stdout}");
}

#[test]
fn usage_names_the_flag_that_is_missing() {
    let (code, _, stderr) = run(&["demo", "--exit"], &[]);
    assert!(code == 2 && stderr.contains("--crowd"), "{stderr}");
    let (code, _, stderr) = run(&["bench", "--pairs", "2"], &[]);
    assert!(
        code == 2 && stderr.contains("--pairs") && stderr.contains('5'),
        "{stderr}"
    );
    let (code, _, stderr) = run(&["token"], &[]);
    assert!(
        code == 2 && stderr.contains("--user ") && stderr.contains("--users"),
        "{stderr}"
    );
}

#[test]
fn the_variable_of_our_own_tests_breaks_no_command() {
    let (code, _, stderr) = run(&["config", "check"], &[("SECKILL_BIN", "/somewhere/seckill")]);
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn a_file_of_tokens_is_for_its_owner_alone_also_where_it_was_there_before() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("tokens.txt");
    fs::write(&path, "old").expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("set");
    let output = program().run(folder.path(), &["token", "--users", "3", "--out", "tokens.txt"]);
    let (code, stdout, _) = read(&output);
    assert!(code == 0 && stdout.starts_with("3 tokens"), "{stdout}");
    let mode = fs::metadata(&path).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn serve_names_every_bad_setting_and_a_good_check_is_said_on_stdout() {
    let bad = [
        ("SECKILL_QUEUE__WORKERS", "x"),
        ("SECKILL_ORDERS__PAY_WITHIN", "soon"),
        ("SECKILL_ADMIN__TOKEN", "short"),
    ];
    let (code, _, stderr) = run(&["serve"], &bad);
    assert_eq!(code, 2);
    for key in ["queue.workers", "orders.pay_within", "admin.token"] {
        assert!(stderr.contains(key), "{key}: {stderr}");
    }
    let (code, stdout, _) = run(&["config", "check"], &[]);
    assert!(code == 0 && stdout.contains("can be started"), "{stdout}");
}

#[test]
fn errors_say_what_to_do_about_them() {
    let server = Server::start(&program());
    let (_, _, stderr) = run(&["activity", "list", "--admin", "127.0.0.1:9"], &[]);
    assert!(stderr.contains("does `seckill serve` run"), "{stderr}");
    let other = [(
        "SECKILL_ADMIN__TOKEN",
        "another-admin-token-0123456789abcdef-0123456789",
    )];
    let (code, _, stderr) = run(&["activity", "list", "--admin", &server.admin.to_string()], &other);
    assert!(code == 1 && stderr.contains("401 40100"), "{stderr}");
    assert!(
        stderr.contains("the environment (SECKILL_ADMIN__TOKEN)") && stderr.contains("--data-dir"),
        "{stderr}"
    );
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("bound").to_string();
    for (flag, other) in [("--listen", "--admin-listen"), ("--admin-listen", "--listen")] {
        let (code, _, stderr) = run(&["serve", flag, &address, other, "127.0.0.1:0"], &[]);
        assert!(code == 1 && stderr.contains(&format!("with {flag}")), "{stderr}");
        assert_eq!(stderr.matches(&address).count(), 1, "{stderr}");
    }
}

#[test]
fn a_sale_that_is_over_already_is_made_with_a_warning() {
    let server = Server::start(&program());
    let window = [
        "--starts-at",
        "2020-01-01T00:00:00Z",
        "--ends-at",
        "2021-01-01T00:00:00Z",
    ];
    let (code, stdout, stderr) = ask(&server, &[&CREATE[..8], &window].concat());
    let warning = "warning   the sale was over before it was made: it ended at 2021-01-01T00:00:00.000Z";
    assert!(code == 0 && stdout.contains(warning), "{stdout}{stderr}");
}
