//! One rule for the exit codes of all commands: 2 for what nobody takes, whoever notices it; 1 for what is not there or not allowed now, and then
//! it is said what was asked for.

use seckill_testkit::Server;
use serde_json::json;

use crate::newcomer::{ask, run};
use crate::program;

const WINDOW: [&str; 4] = [
    "--starts-at",
    "2026-01-01T00:00:00Z",
    "--ends-at",
    "2036-01-01T00:00:00Z",
];

/// A command in one text; each word is an argument, `_` an empty one.
fn words(command: &str) -> Vec<&str> {
    let words = command
        .split_whitespace()
        .map(|word| if word == "_" { "" } else { word });
    let words: Vec<_> = words.collect();
    match words[..2] {
        ["activity", "create"] => [&words[..], &WINDOW].concat(),
        _ => words,
    }
}

/// What the server takes nothing of, or this program before it asks.
const OUT_OF_RANGE: [&str; 40] = [
    "activity create --title _ --price-cents 1 --stock 1",
    "activity create --title x --price-cents 1 --stock 0",
    "activity create --title x --price-cents 1 --stock 10 --shards 4",
    "activity create --title x --price-cents 1 --stock 1 --per-user-limit 0",
    "activity create --title x --price-cents 1 --stock 1 --currency yuan",
    "activity create --title x --price-cents 1 --stock 1 --min-level 99999999999",
    "activity change 1 --title _",
    "activity change 1 --per-user-limit 0",
    "activity change 1 --ends-at 2020-01-01T00:00:00Z",
    "activity change 1",
    "activity show x",
    "activity show 99999999999999999999",
    "activity pause 1 --for 0s",
    "activity pause 1 --until 2020-01-01T00:00:00Z",
    "activity resume 1 --at 2020-01-01T00:00:00Z",
    "activity add-stock 1 --quantity 0",
    "activity add-stock 1 --quantity 99999999999",
    "product add-stock 1 --quantity 0",
    "switches set admit_ratio=2",
    "switches set backlog_max=0",
    "switches set backlog_oldest_max_s=-1",
    "switches set entry_open=false --for 0s",
    "switches set entry_open=false --until 2020-01-01T00:00:00Z",
    "blocks add ip 0.0.0.0/0",
    "blocks add ip nonsense",
    "blocks add user _",
    "blocks add user a --for 0s",
    "blocks remove ip nonsense",
    "dead-letters discard 99 --reason _",
    "audit-rows --limit 0",
    "audit-rows --since yesterday",
    "audit 1 --idempotency-key _",
    "token --user _",
    "token --user a --ttl 0s",
    "token --users 0 --out tokens.txt",
    "plan --users 0",
    "demo --crowd 0 --exit",
    "bench --sales 0",
    "recover 0",
    "journal erase-buyer 0 a",
];

/// What is right as it stands, and not there, with what must be said of it.
const NOT_THERE: [(&str, &str); 18] = [
    (
        "activity create --title x --price-cents 1 --stock 1 --product 99",
        "product 99",
    ),
    ("activity show 99", "activity 99"),
    ("activity change 99 --title x", "activity 99"),
    ("activity publish 99", "activity 99"),
    ("activity pause 99", "activity 99"),
    ("activity resume 99", "activity 99"),
    ("activity close 99", "activity 99"),
    ("activity add-stock 99 --quantity 1", "activity 99"),
    ("activity eligibility show 99", "activity 99"),
    ("product show 99", "product 99"),
    ("product add-stock 99 --quantity 1", "product 99"),
    ("preheat 99", "activity 99"),
    ("blocks remove 99", "block 99"),
    ("blocks remove user nobody", "user nobody"),
    ("dead-letters retry 99", "dead letter 99"),
    ("audit 99", "activity 99"),
    ("check 99", "activity 99"),
    ("reconcile 99", "activity 99"),
];

/// What its state does not allow.
const NOT_ALLOWED: [&str; 3] = [
    "activity add-stock 1 --quantity 1000000",
    "activity change 1 --price-cents 5",
    "switches set entry_open=true --revision 77",
];

/// Commands of no running server; what they take is judged before anything is opened.
fn is_local(command: &str) -> bool {
    let local = ["token", "plan", "demo", "bench", "recover", "journal"];
    local.iter().any(|name| command.starts_with(name))
}

#[test]
fn every_command_exits_2_for_values_out_of_range_and_1_for_what_is_not_there() {
    let server = Server::start(&program());
    let _ = server.sale(9, &json!({}));
    let mut wrong = Vec::new();
    let mut check = |command: &str, expect: i32, named: &str| {
        let arguments = words(command);
        let (exit, stdout, stderr) = match is_local(command) {
            true => run(&arguments, &[]),
            false => ask(&server, &arguments),
        };
        if exit != expect || !stderr.contains(named) {
            wrong.push(format!(
                "{command}: exits {exit}, not {expect} with {named:?}: {stdout}{stderr}"
            ));
        }
    };
    OUT_OF_RANGE.iter().for_each(|command| check(command, 2, ""));
    NOT_THERE.iter().for_each(|(command, named)| check(command, 1, named));
    NOT_ALLOWED.iter().for_each(|command| check(command, 1, "40900"));
    assert_eq!(wrong, Vec::<String>::new());
}
