//! `seckill audit-rows`: who did what, from a shell.

use seckill_testkit::Server;
use serde_json::{Value, json};

use crate::newcomer::{ask, document};
use crate::program;

/// Actions of the rows that a command shows, newest first.
fn actions(server: &Server, arguments: &[&str]) -> Vec<String> {
    let (exit, stdout, stderr) = ask(server, &[&["audit-rows", "--json"], arguments].concat());
    assert_eq!(exit, 0, "{stderr}");
    let rows = document(&stdout);
    let text = |row: &Value| row["action"].as_str().unwrap_or_default().to_owned();
    rows.as_array().expect("a list").iter().map(text).collect()
}

#[test]
fn rows_of_the_audit_log_are_chosen_by_who_what_of_what_and_when_and_read_on_from_a_number() {
    let server = Server::start(&program());
    let activity = server.sale(9, &json!({})).to_string();
    for command in [
        &["blocks", "add", "user", "mallory", "--reason", "two cards"][..],
        &["blocks", "remove", "user", "mallory"],
        &["activity", "change", &activity, "--notice", "soon"],
    ] {
        assert_eq!(ask(&server, command).0, 0, "{command:?}");
    }
    let (_, stdout, _) = ask(&server, &["audit-rows", "--action", "block"]);
    let lines: Vec<_> = stdout.lines().collect();
    let [removed, added] = lines[..] else {
        panic!("{stdout}")
    };
    assert!(removed.contains("admin  block.remove  block 1  was {"), "{removed}");
    assert!(
        added.contains("admin  block.add  block 1  {") && added.contains("two cards"),
        "{added}"
    );
    assert_eq!(actions(&server, &["--action", "block.add"]), ["block.add"]);
    let of_sale = format!("activity {activity}");
    assert_eq!(
        actions(&server, &["--subject", &of_sale, "--limit", "1"]),
        ["activity.patch"]
    );
    assert_eq!(actions(&server, &["--actor", "nobody"]), Vec::<String>::new());
    assert_eq!(
        actions(&server, &["--since", "2100-01-01T00:00:00Z"]),
        Vec::<String>::new()
    );
    let all = actions(&server, &["--since", "2000-01-01T00:00:00Z"]);
    let number = added.split_whitespace().next().expect("a number");
    let older = actions(&server, &["--before", number]);
    let at = all.iter().position(|action| action == "block.add").expect("is there");
    assert_eq!(older, all[at + 1..]);
}
