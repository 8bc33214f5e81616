//! `--json`: one document on stdout, whatever comes of the command.

use seckill_testkit::Server;
use serde_json::json;

use crate::newcomer::{ask, document, run};
use crate::program;

#[test]
fn every_failure_with_json_is_one_document_on_stdout_besides_the_text() {
    let server = Server::start(&program());
    let no_sale = ask(&server, &["audit", "9", "--json"]);
    let no_server = run(&["audit", "1", "--admin", "127.0.0.1:9", "--json"], &[]);
    let wrong_settings = run(&["token", "--user", "a", "--json"], &[("SECKILL_QUEUE__WORKERS", "x")]);
    let wrong_usage = run(&["demo", "--exit", "--json"], &[]);
    for ((code, stdout, stderr), expected) in [(no_sale, 1), (no_server, 4), (wrong_settings, 2), (wrong_usage, 2)] {
        let document = document(&stdout);
        assert_eq!(
            (code, document["exit_code"].as_i64()),
            (expected, Some(expected.into()))
        );
        let error = document["error"].as_str().expect("a text");
        assert!(stderr.contains(error), "{error} is not in {stderr}");
    }
}

#[test]
fn a_command_that_printed_its_document_and_failed_prints_no_second_one() {
    let (code, stdout, _) = run(&["config", "check", "--json"], &[("SECKILL_QUEUE__WORKERS", "x")]);
    assert_eq!(code, 2);
    assert_eq!(document(&stdout)["errors"].as_array().map(Vec::len), Some(1));
}

#[test]
fn migrate_and_the_demo_give_one_json_document() {
    let (code, stdout, stderr) = run(&["migrate", "--json"], &[]);
    assert_eq!((code, &document(&stdout)["migrated"]), (0, &json!(true)), "{stderr}");
    let ports = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
    let demo: Vec<_> = ["demo", "--json", "--crowd", "500", "--exit"]
        .into_iter()
        .chain(ports)
        .collect();
    let (code, stdout, stderr) = run(&demo, &[]);
    let document = document(&stdout);
    assert_eq!(
        (code, &document["sale"]["audit"]["balanced"]),
        (0, &json!(true)),
        "{stderr}"
    );
    assert!(document["admin_token"].is_string(), "{document}");
}
