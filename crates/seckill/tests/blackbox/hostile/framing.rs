//! B-39: where a request ends. What two readers may see in two places is refused, and the connection closed.

use super::stage::Stage;
use super::{Row, last};

/// Header lines that frame a body in a way that two readers may take differently.
const AMBIGUOUS: &[&str] = &[
    "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "Content-Length: 5\r\nContent-Length: 6",
    "Content-Length: 5\r\nContent-Length: 5",
    "Content-Length: 5, 5",
    "Content-Length: 5, 6",
    "Content-Length: +5",
    "Content-Length: -5",
    "Content-Length: 0x5",
    "Content-Length: 5\t",
    "Content-Length: 99999999999999999999",
    "Content-Length:",
    "Content-Length : 5",
    "Transfer-Encoding: xchunked",
    "Transfer-Encoding: chunked\t",
    "Transfer-Encoding: chunked ",
    "Transfer-Encoding:\tchunked",
    "Transfer-Encoding: \u{b}chunked",
    "Transfer-Encoding : chunked",
    "Transfer-Encoding: chunked, chunked",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding: identity",
    "Transfer-Encoding: \"chunked\"",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    "Transfer-Encoding:\r\n chunked",
    " Transfer-Encoding: chunked",
    "X: y\r\n Transfer-Encoding: chunked",
    "X: y\nTransfer-Encoding: chunked",
    "X: y\rTransfer-Encoding: chunked",
    "Transfer\u{130}-Encoding: chunked",
];

/// Bodies in chunks that no standard allows.
const CHUNKS: &[(&str, &str)] = &[
    ("a space behind the size", "2 \r\n{}\r\n0\r\n\r\n"),
    ("a tab behind the size", "2\t\r\n{}\r\n0\r\n\r\n"),
    ("a space before the size", " 2\r\n{}\r\n0\r\n\r\n"),
    ("a size in C", "0x2\r\n{}\r\n0\r\n\r\n"),
    ("a size with a sign", "+2\r\n{}\r\n0\r\n\r\n"),
    ("a negative size", "-2\r\n{}\r\n0\r\n\r\n"),
    ("a size beyond 64 bits", "10000000000000002\r\n{}\r\n0\r\n\r\n"),
    ("no size", "\r\n{}\r\n0\r\n\r\n"),
    ("a size without CR", "2\n{}\r\n0\r\n\r\n"),
    ("data without CR", "2\r\n{}\n0\r\n\r\n"),
    ("more data than it says", "1\r\n{}\r\n0\r\n\r\n"),
    ("an extension with a line", "2;a\nb\r\n{}\r\n0\r\n\r\n"),
];

/// Bodies whose end is not where somebody else may see it. Each hides a purchase that must not be made.
pub(super) fn rows(stage: &Stage) -> Vec<Row> {
    let (path, bearer) = (stage.buy_path(), stage.bearer());
    let hidden = String::from_utf8(stage.buy(&[], "")).expect("ASCII");
    let with = |lines: &str, body: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: test\r\n{bearer}\r\nContent-Type: application/json\r\n{lines}\r\n\r\n{body}"
        )
    };
    let smuggled = format!("0\r\n\r\n{hidden}");
    let mut rows: Vec<_> = AMBIGUOUS
        .iter()
        .map(|lines| last(format!("B-39 {lines:?}"), with(lines, &smuggled), 400, 40_000))
        .collect();
    let long = format!("2;{}\r\n{{}}\r\n0\r\n\r\n", "x".repeat(1_000_000));
    for (name, chunks) in CHUNKS.iter().copied().chain([("an extension of 1 MB", long.as_str())]) {
        let bytes = with("Transfer-Encoding: chunked", chunks);
        rows.push(last(format!("B-39 {name}"), bytes, 400, 40_000));
    }
    rows
}

/// The same framings with a read hidden behind each, whose answer would give it away.
pub(super) fn smuggling() -> Vec<(String, Vec<u8>)> {
    let hidden = "GET /poison HTTP/1.1\r\nHost: test\r\nX-Request-Id: poison\r\n\r\n";
    let front = |lines: &str, body: &str| {
        format!("POST /api/orders/S1-1-1/pay HTTP/1.1\r\nHost: test\r\n{lines}\r\n\r\n{body}").into_bytes()
    };
    let heads = AMBIGUOUS
        .iter()
        .map(|lines| (format!("{lines:?}"), front(lines, &format!("0\r\n\r\n{hidden}"))));
    let bodies = CHUNKS.iter().map(|(name, chunks)| {
        (
            (*name).to_owned(),
            front("Transfer-Encoding: chunked", &format!("{chunks}{hidden}")),
        )
    });
    let in_body = format!("Content-Length: {}", hidden.len());
    let plain = [("a body that looks like a request".to_owned(), front(&in_body, hidden))];
    heads.chain(bodies).chain(plain).collect()
}
