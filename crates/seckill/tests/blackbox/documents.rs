//! `--json`: one document on stdout, whatever comes of the command.

use std::fs;
use std::os::unix::fs::FileExt as _;

use seckill_testkit::Server;
use serde_json::{Value, json};

use crate::disaster::{self, ticket};
use crate::newcomer::{ask, document, read, run};
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

/// Exit code and document of a command on the data of a stopped server.
fn on_data(server: &Server, arguments: &[&str]) -> (i32, Value) {
    let (code, stdout, _) = read(&disaster::run(server, &[arguments, &["--json"]].concat()));
    (code, document(&stdout))
}

/// A stopped server with an order of alice.
fn with_an_order() -> Server {
    let mut server = Server::start(&program());
    let activity = server.sale(3, &json!({}));
    ticket(&server, activity, "alice");
    let _ = server.settled(activity);
    server.terminate();
    server
}

#[test]
fn recover_gives_one_json_document_whatever_it_finds() {
    let server = with_an_order();
    let (code, sound) = on_data(&server, &["recover"]);
    assert_eq!(code, 0, "{sound}");
    let members = ["belong_together", "steps", "changed"].map(|name| sound[name].clone());
    assert_eq!(members, [json!(true), json!([]), json!(false)], "{sound}");

    fs::remove_dir_all(server.data().join("journal")).expect("removed");
    let (code, dry) = on_data(&server, &["recover"]);
    assert_eq!((code, &dry["changed"]), (0, &json!(false)), "{dry}");
    let step = &dry["steps"][0];
    assert_eq!(
        (&step["step"], &step["activity"]),
        (&json!("rebuild"), &json!(1)),
        "{dry}"
    );
    assert!(step["said"].is_string() && dry["said"].is_string(), "{dry}");
    let (code, done) = on_data(&server, &["recover", "--yes"]);
    assert_eq!(code, 0, "{done}");
    let members = ["changed", "recovered", "others_left"].map(|name| done[name].clone());
    assert_eq!(members, [json!(true), json!(1), json!(false)], "{done}");

    fs::remove_file(server.data().join("seckill.db")).expect("removed");
    let (code, gone) = on_data(&server, &["recover", "--yes"]);
    assert_eq!((code, gone["exit_code"].as_i64()), (1, Some(1)), "{gone}");
    assert!(gone["error"].to_string().contains("restore a copy"), "{gone}");
    assert_eq!(gone["changed"], false, "{gone}");
}

#[test]
fn journal_commands_give_one_json_document_of_sound_and_damaged_journals() {
    let server = with_an_order();
    let (code, sound) = on_data(&server, &["journal", "verify"]);
    assert_eq!((code, &sound["damaged"]), (0, &json!([])), "{sound}");
    assert!(sound["files"][0]["frames"].as_u64() > Some(0), "{sound}");
    let (code, kept) = on_data(&server, &["journal", "repair"]);
    assert_eq!((code, &kept["changed"]), (0, &json!(false)), "{kept}");
    let (code, dry) = on_data(&server, &["journal", "erase-buyer", "1", "alice"]);
    assert_eq!(
        (code, &dry["changed"], &dry["user"]),
        (0, &json!(false), &json!("alice")),
        "{dry}"
    );
    assert_eq!(dry["ticket"], "T1-1-1", "{dry}");

    let segment = server.data().join("journal/journal-0000000001.segment");
    let bytes = fs::read(&segment).expect("the segment");
    // Within the first frame: there are whole ones behind it.
    let first = 512 + bytes[512..].iter().position(|&byte| byte != 0).expect("a frame");
    let file = fs::File::options().write(true).open(&segment).expect("opened");
    file.write_all_at(b"XXXX", first as u64 + 40).expect("damaged");
    let (code, damaged) = on_data(&server, &["journal", "verify"]);
    assert_eq!((code, damaged["exit_code"].as_i64()), (3, Some(3)), "{damaged}");
    let place = &damaged["damaged"][0];
    assert!(place["file"].is_string() && place["offset"].is_u64(), "{damaged}");
    let (code, repaired) = on_data(&server, &["journal", "repair"]);
    assert_eq!((code, &repaired["changed"]), (0, &json!(true)), "{repaired}");
    assert!(
        repaired["copy"].is_string() && repaired["frames_lost"].is_u64(),
        "{repaired}"
    );
}
