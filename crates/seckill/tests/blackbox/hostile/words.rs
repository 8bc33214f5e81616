//! B-56 and B-58: switches and blocks of the gate that mean nothing, and words that are meant for a database.

use serde_json::json;

use super::operator::{SWITCHES, bearer, command};
use super::stage::request;
use super::{Row, Stage, row};

const SETTINGS: [&str; 19] = [
    r#"{"admit_ratio":-0.1}"#,
    r#"{"admit_ratio":1.1}"#,
    r#"{"admit_ratio":"1"}"#,
    r#"{"admit_ratio":NaN}"#,
    r#"{"backlog_max":0}"#,
    r#"{"backlog_max":-1}"#,
    r#"{"entry_open":"no"}"#,
    r#"{"entry_open":null}"#,
    r#"{"challenge":"riddle"}"#,
    r#"{"limits":{"ip":"0/s"}}"#,
    r#"{"limits":{"ip":"-1/s burst 1"}}"#,
    r#"{"limits":{"ip":"1/s burst 0"}}"#,
    r#"{"limits":{"user":"many"}}"#,
    r#"{"limits":{"moon":"1/s"}}"#,
    r#"{"other":true}"#,
    r#"{"entry_open":false,"entry_open":true}"#,
    r#"{"entry_open":false,"expires_at":"2020-01-01T00:00:00Z"}"#,
    "[]",
    "{",
];
const BLOCKS: [(&str, &str); 12] = [
    ("ip", "1.2.3"),
    ("ip", "1.2.3.4/33"),
    ("ip", "::/129"),
    ("ip", "localhost"),
    ("ip", "1.2.3.4; DROP TABLE blocks"),
    ("user", ""),
    ("user", "a b"),
    ("user", "{1}"),
    ("user", "' OR 1=1 --"),
    ("device", "a/b"),
    ("device", "*"),
    ("moon", "a"),
];
const QUERIES: [&str; 15] = [
    "limit=0",
    "limit=-1",
    "limit=501",
    "limit=1e9",
    "limit=1%27",
    "cursor=%27%20OR%201=1%20--",
    "cursor=%25",
    "cursor=*",
    "sort=price%3B--",
    "activity_id=1%20OR%201=1",
    "activity_id=*",
    "activity_id={1}",
    "activity_id=-1",
    "limit=1&limit=2",
    "user_id=%00",
];
const IDS: [&str; 8] = ["-1", "1e0", "%31", "1%00", "{1}", "*", "1%27", "18446744073709551616"];

pub(super) fn rows(stage: &Stage) -> Vec<Row> {
    let own = bearer(stage);
    let refused = |name: String, bytes| row(name, bytes, 400, 40_000);
    let get = |path: &str| request("GET", path, &[&own], "");
    let switches = SETTINGS
        .iter()
        .map(|body| refused(format!("B-58 switches {body}"), command(stage, "PATCH", SWITCHES, body)));
    let blocks = BLOCKS.iter().map(|(kind, value)| {
        let body = json!({"kind": kind, "value": value}).to_string();
        let bytes = command(stage, "POST", "/admin/api/blocks", &body);
        refused(format!("B-56 a block of {kind} {value:?}"), bytes)
    });
    let queries = QUERIES.iter().map(|query| {
        let bytes = get(&format!("/admin/api/orders?{query}"));
        refused(format!("B-56 orders by {query}"), bytes)
    });
    let ids = IDS
        .iter()
        .map(|id| refused(format!("B-56 sale {id}"), get(&format!("/admin/api/activities/{id}"))));
    switches.chain(blocks).chain(queries).chain(ids).collect()
}
