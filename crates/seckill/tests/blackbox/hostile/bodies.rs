//! B-01 to B-07: bodies, and ids in paths.

use super::stage::{Stage, request};
use super::{Row, last, row};

const JSON: &str = "Content-Type: application/json";

pub(super) fn rows(stage: &Stage) -> Vec<Row> {
    let mut rows = forms(stage);
    rows.extend(kinds(stage));
    rows.extend(ids(stage));
    rows
}

/// What is no purchase by its form.
fn forms(stage: &Stage) -> Vec<Row> {
    let bad: &[(&str, &[u8])] = &[
        ("B-01 a brace", b"{"),
        ("B-01 an array", b"[]"),
        ("B-01 null", b"null"),
        ("B-01 a string", b"\"x\""),
        ("B-01 two objects", b"{} {}"),
        ("B-01 a byte order mark", b"\xef\xbb\xbf{}"),
        ("B-01 UTF-16", b"\xff\xfe{\0}\0"),
        ("B-01 no UTF-8", b"{\"token\":\"\xff\"}"),
        ("B-01 a lone surrogate", br#"{"token":"\ud800"}"#),
        ("B-01 deep", &[b'['; 4_000]),
        ("B-03 a member twice", br#"{"quantity":1,"quantity":1}"#),
        ("B-05 a price", br#"{"quantity":1,"price":1}"#),
        ("B-05 a user", br#"{"user_id":"winner"}"#),
        ("B-05 a state", br#"{"status":"paid"}"#),
        ("B-05 another sale", br#"{"activity_id":2}"#),
        ("B-05 a role", br#"{"is_admin":true}"#),
        ("B-05 a prototype", br#"{"__proto__":{"quantity":1}}"#),
    ];
    let mut rows: Vec<_> = bad
        .iter()
        .map(|(name, body)| row(*name, stage.buy_json(body), 400, 40_000))
        .collect();
    for quantity in [
        "0",
        "-1",
        "-0",
        "1.0",
        "1.5",
        "1e0",
        "1e400",
        "\"1\"",
        "true",
        "null",
        "NaN",
        "2",
        "2147483648",
        "9007199254740993",
        "9223372036854775808",
        "18446744073709551616",
        "123456789012345678901234567890",
    ] {
        let body = format!("{{\"quantity\":{quantity}}}");
        rows.push(row(format!("B-06 {quantity} units"), stage.buy_json(body), 400, 40_000));
    }
    rows
}

/// Bodies that are no JSON by their headers, or too large.
fn kinds(stage: &Stage) -> Vec<Row> {
    let mut rows: Vec<_> = [
        &["Content-Type: text/plain"][..],
        &["Content-Type: application/x-www-form-urlencoded"],
        &["Content-Type: multipart/form-data; boundary=x"],
        &["Content-Type: application/json; charset=utf-16"],
        &[JSON, "Content-Type: text/plain"],
        &[JSON, "Content-Encoding: gzip"],
        &[JSON, "Content-Encoding: br, gzip"],
        &[],
    ]
    .iter()
    .map(|lines| row(format!("B-02 {lines:?}"), stage.buy(lines, "{}"), 415, 40_000))
    .collect();
    let large = format!("{{\"token\":\"{}\"}}", "x".repeat(4_100));
    rows.push(row("B-01 5 KB", stage.buy_json(large), 413, 40_000));
    // Only what is already here is thrown away for the sake of the connection.
    let announced = stage.buy(&[JSON, "Content-Length: 10000000"], "");
    rows.push(last("B-01 10 MB announced", announced, 413, 40_000));
    rows
}

/// Ids of no sale.
fn ids(stage: &Stage) -> Vec<Row> {
    let bearer = stage.bearer();
    let buy = |id: &str| request("POST", &format!("/api/seckill/{id}"), &[&bearer], "");
    let mut rows: Vec<_> = [
        "-1",
        "+1",
        "01",
        "1.0",
        "1e3",
        "1%00",
        "%31",
        "{1}",
        "%7B1%7D",
        "%EF%BC%91",
        "18446744073709551616",
        "1%0d%0aSET%20x%201",
        "a:1",
        "*",
    ]
    .iter()
    .map(|id| row(format!("B-07 id {id}"), buy(id), 400, 40_000))
    .collect();
    let long = "9".repeat(10_000);
    rows.push(row("B-07 a long id", buy(&long), 400, 40_000));
    // Letters beyond ASCII have no place in a request line.
    rows.push(row("B-07 a wide 1", buy("１"), 400, 40_000));
    for path in ["1%2f..%2f..%2fadmin", "..%2fadmin"] {
        rows.push(row(format!("B-07 id {path}"), buy(path), 400, 40_000));
    }
    for path in ["../admin", "1/../../admin", "", "1/"] {
        rows.push(row(format!("B-07 id {path:?}"), buy(path), 404, 40_401));
    }
    rows.push(last("B-07 a line in the id", buy("a\r\nSET x 1"), 400, 40_000));
    rows.push(row("B-07 no sale", buy("0"), 404, 40_400));
    rows
}
