//! B-51: the operator's port, asked by pages of other sites and by visitors; and what it refuses of values and words.

use super::house::{House, Mode};
use super::stage::request;
use super::{Row, Stage, all_are_refused, row, values, words};

const JSON: &str = "Content-Type: application/json";
const FORM: &str = "Content-Type: application/x-www-form-urlencoded";
pub(super) const SWITCHES: &str = "/admin/api/switches";
const BLOCKS: &str = "/admin/api/blocks";
const SHUT: &str = r#"{"entry_open":false}"#;

pub(super) fn bearer(stage: &Stage) -> String {
    format!("Authorization: Bearer {}", stage.server.admin_token())
}

/// A command of the operator with a body that is JSON, or says so.
pub(super) fn command(stage: &Stage, method: &str, path: &str, body: &str) -> Vec<u8> {
    request(method, path, &[&bearer(stage), JSON], body)
}

/// Commands of somebody without the operator's token where it belongs.
fn of_visitors(stage: &Stage) -> Vec<Row> {
    let token = stage.server.admin_token();
    let shut = |path: &str, line: &str| request("PATCH", path, &[JSON, line], SHUT);
    let cookie = format!("Cookie: session={token}; token={token}");
    let url = format!("{SWITCHES}?token={token}&access_token={token}");
    [
        ("nobody", shut(SWITCHES, "X: y")),
        ("a cookie", shut(SWITCHES, &cookie)),
        (
            "another scheme",
            shut(SWITCHES, "Authorization: Basic YWRtaW46YWRtaW4="),
        ),
        ("a user", shut(SWITCHES, &stage.bearer())),
        ("a token in the URL", shut(&url, "X: y")),
        ("a form", request("POST", BLOCKS, &[FORM], "kind=user&value=honest")),
    ]
    .into_iter()
    .map(|(name, bytes)| row(format!("B-51 {name}, without the token"), bytes, 401, 40_100))
    .collect()
}

/// Commands of a page that the operator looks at, with his token, which it should not have.
fn of_pages(stage: &Stage) -> Vec<Row> {
    let own = bearer(stage);
    let with_token = |line: &str| request("PATCH", SWITCHES, &[&own, JSON, line], SHUT);
    let form = request("POST", BLOCKS, &[&own, FORM], "kind=user&value=honest");
    let text = request("PATCH", SWITCHES, &[&own, "Content-Type: text/plain"], SHUT);
    let overriding = [own.as_str(), "X-HTTP-Method-Override: POST"];
    let by_header = request("GET", "/admin/api/recover", &overriding, "");
    let mut rows = vec![
        row("B-51 two tokens", with_token(&own), 400, 40_000),
        row("B-51 a form", form, 415, 40_000),
        row("B-51 plain text", text, 415, 40_000),
        row("B-51 a method by header", by_header, 405, 40_500),
    ];
    let public = format!("Origin: http://{}", stage.server.public);
    for line in [
        "Origin: null",
        "Origin: https://evil.example",
        "Origin: http://test.evil.example",
        "Origin: http://test:81",
        &public,
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        rows.push(row(format!("B-51 {line}"), with_token(line), 403, 40_302));
    }
    rows
}

fn the_operator_s_port_refuses(house: &House) {
    let stage = &house.stage;
    let tables = [of_visitors, of_pages, values::rows, words::rows];
    let rows: Vec<_> = tables.into_iter().flat_map(|rows| rows(stage)).collect();
    all_are_refused(house, stage.server.admin, &rows);
}

#[test]
fn the_operator_s_port_refuses_pages_and_values_and_changes_nothing_in_one_process() {
    the_operator_s_port_refuses(&Mode::OneProcess.house(&[]));
}

#[test]
fn the_operator_s_port_refuses_pages_and_values_and_changes_nothing_on_redis() {
    the_operator_s_port_refuses(&Mode::Redis.house(&[]));
}
