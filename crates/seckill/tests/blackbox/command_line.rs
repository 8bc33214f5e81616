//! Exit codes, refusals of bad settings, and the two load tools that people bring along.

use std::fs;
use std::process::Command;

use seckill_testkit::Server;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program;

fn run(arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let folder = TempDir::new().expect("a folder");
    let output = program()
        .command(folder.path(), arguments)
        .envs(environment.iter().copied())
        .output()
        .expect("starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Arguments, settings, and what the complaint must name.
type Misuse = (
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
    &'static str,
);

#[test]
fn wrong_usage_exits_2_and_names_what_is_wrong() {
    let cases: [Misuse; 10] = [
        (&["sell"], &[], "sell"),
        (&["serve", "--fast"], &[], "--fast"),
        (&["serve"], &[("SECKILL_SERVER__LISTENN", "x")], "listenn"),
        (&["serve"], &[("SECKILL_QUEUE__WORKERS", "many")], "queue.workers"),
        (&["serve"], &[("SECKILL_AUTH__JWT_SECRET", "")], "auth.jwt_secret"),
        (&["serve"], &[("SECKILL_AUTH__JWT_SECRET", "short")], "auth.jwt_secret"),
        (&["serve"], &[("SECKILL_ADMIN__TOKEN", "short")], "admin.token"),
        (&["serve", "--roles", "worker"], &[], "embedded"),
        (&["work"], &[], "embedded"),
        (
            &["work"],
            &[("SECKILL_STORE__URL", "redis://127.0.0.1:1")],
            "database.url",
        ),
    ];
    for (arguments, environment, named) in cases {
        let (code, stdout, stderr) = run(arguments, environment);
        assert_eq!(code, Some(2), "{arguments:?} {environment:?}: {stderr}");
        assert!(stderr.to_lowercase().contains(named), "{named} is not in: {stderr}");
        assert_eq!(stdout, "");
    }
}

#[test]
fn a_server_that_cannot_be_reached_exits_4() {
    let (code, _, stderr) = run(&["audit", "1", "--admin", "127.0.0.1:9"], &[]);
    assert_eq!(code, Some(4), "{stderr}");
}

#[test]
fn the_plan_of_the_classic_example_is_told_exactly() {
    let arguments = [
        "--json",
        "plan",
        "--users",
        "100000",
        "--clicks",
        "5",
        "--seconds",
        "60",
    ];
    let (code, stdout, stderr) = run(&arguments, &[]);
    assert_eq!(code, Some(0), "{stderr}");
    let plan: Value = serde_json::from_str(&stdout).expect("one JSON document");
    let rounded =
        ["average_per_s", "peak_per_s", "prepared_per_s"].map(|name| plan[name].as_f64().expect("a number").round());
    assert_eq!(rounded, [8_333.0, 83_333.0, 125_000.0]);
}

#[test]
fn config_print_masks_secrets_and_tells_sources() {
    let (code, stdout, stderr) = run(&["config", "print"], &[("SECKILL_QUEUE__WORKERS", "3")]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stdout.contains("held-by-the-testkit"), "{stdout}");
    assert!(stdout.contains("SECKILL_QUEUE__WORKERS"), "{stdout}");
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let (code, stdout, _) = run(&["completions", shell], &[]);
        assert!(code == Some(0) && stdout.contains("seckill"), "{shell}");
    }
}

#[test]
fn tokens_for_many_users_are_one_a_line_and_distinct() {
    let folder = TempDir::new().expect("a folder");
    let output = program().run(folder.path(), &["token", "--users", "200", "--out", "tokens.txt"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let tokens = fs::read_to_string(folder.path().join("tokens.txt")).expect("written");
    let distinct: std::collections::BTreeSet<_> = tokens.lines().collect();
    assert_eq!((tokens.lines().count(), distinct.len()), (200, 200));
}

/// The check of the second article as it stands there: HTTP/1.0, a connection a request, one user.
#[test]
fn ab_with_one_user_sells_one_unit_and_sees_no_5xx() {
    let server = Server::start(&program());
    server.admits_however_slow();
    let activity = server.sale(100, &json!({}));
    let folder = server.folder.path();
    fs::write(folder.join("post_data.txt"), "{}").expect("written");
    let token = program().run(folder, &["token", "--user", "ab"]);
    let bearer = format!(
        "Authorization: Bearer {}",
        String::from_utf8_lossy(&token.stdout).trim()
    );
    let url = format!("http://{}/api/seckill/{activity}", server.public);
    let ab = [
        "-n",
        "10000",
        "-c",
        "200",
        "-p",
        "post_data.txt",
        "-T",
        "application/json",
        "-H",
        &bearer,
        &url,
    ];
    let output = Command::new("ab")
        .current_dir(folder)
        .args(ab)
        .output()
        .expect("ab is installed (cargo xtask test does it)");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{said} {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let number = |name: &str| -> u64 {
        let line = said.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace()
            .filter_map(|word| word.parse().ok())
            .next()
            .unwrap_or(0)
    };
    assert_eq!(
        (number("Complete requests:"), number("Non-2xx responses:")),
        (10_000, 9_999),
        "{said}"
    );
    assert_no_5xx(&server);
    let audit = server.settled(activity);
    assert_eq!(
        (audit["orders_live"].as_u64(), audit["stock_left"].as_u64()),
        (Some(1), Some(99)),
        "{audit}"
    );
}

/// The same over distinct users: wrk takes a token a request from the file.
#[test]
fn wrk_over_many_tokens_sells_exactly_the_stock() {
    const SCRIPT: &str = r#"
        local tokens, at = {}, 0
        for line in io.lines("tokens.txt") do tokens[#tokens + 1] = line end
        request = function()
            at = at % #tokens + 1
            return wrk.format("POST", nil, { ["Authorization"] = "Bearer " .. tokens[at] })
        end
    "#;
    let server = Server::start(&program());
    server.admits_however_slow();
    let activity = server.sale(500, &json!({}));
    let folder = server.folder.path();
    fs::write(folder.join("buy.lua"), SCRIPT).expect("written");
    assert!(
        program()
            .run(folder, &["token", "--users", "20000", "--out", "tokens.txt"])
            .status
            .success()
    );
    let url = format!("http://{}/api/seckill/{activity}", server.public);
    let wrk = ["-t", "1", "-c", "64", "-d", "3s", "-s", "buy.lua", &url];
    let output = Command::new("wrk")
        .current_dir(folder)
        .args(wrk)
        .output()
        .expect("wrk is installed (cargo xtask test does it)");
    assert!(output.status.success(), "{output:?}");
    assert_no_5xx(&server);
    let audit = server.settled(activity);
    assert_eq!(
        (audit["orders_live"].as_u64(), audit["stock_left"].as_u64()),
        (Some(500), Some(0)),
        "{audit}"
    );
    assert_eq!(audit["balanced"], true);
}

/// Of the public routes: `/readyz` says 503 until the server is ready.
fn assert_no_5xx(server: &Server) {
    let metrics = seckill_testkit::text(server.admin, "/metrics").expect("answers");
    let bad: Vec<_> = metrics
        .lines()
        .filter(|line| line.starts_with("seckill_http_requests_total{route=\"/api/") && line.contains("code=\"5"))
        .collect();
    assert!(bad.iter().all(|line| line.ends_with(" 0")), "{bad:?}");
}
