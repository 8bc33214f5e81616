//! Requests of people who mean harm, as bytes on a socket. Each is refused with its code, and when all of them are through, nothing of the
//! sale has changed.

mod bodies;
mod challenges;
mod crowds;
mod entrance;
mod farms;
mod framing;
mod house;
mod identities;
mod keys;
mod limits;
mod operator;
mod others;
mod pages;
mod secrets;
pub(crate) mod slow;
mod socket;
mod sockets;
mod stage;
mod states;
mod streams;
mod transport;
mod unknown;
mod values;
mod watchers;
mod words;

use std::fmt::Write as _;
use std::net::SocketAddr;

use house::{House, Mode};
use seckill_testkit::Wire;
pub(crate) use stage::Stage;

/// One hostile request and what it is to come to.
struct Row {
    /// What it is; begins with the number of its kind.
    name: String,
    bytes: Vec<u8>,
    status: u16,
    /// The code in the body; -1: none is looked for.
    code: i64,
    /// Whether the connection is closed behind the answer. One that goes on must answer an honest request next.
    closes: bool,
}

/// A request that is refused, and whose connection goes on.
fn row(name: impl Into<String>, bytes: impl Into<Vec<u8>>, status: u16, code: i64) -> Row {
    Row {
        name: name.into(),
        bytes: bytes.into(),
        status,
        code,
        closes: false,
    }
}

/// A request that is refused, and whose connection is closed.
fn last(name: impl Into<String>, bytes: impl Into<Vec<u8>>, status: u16, code: i64) -> Row {
    Row {
        closes: true,
        ..row(name, bytes, status, code)
    }
}

/// What is wrong with the answer of a port to a row; empty where nothing is.
fn fault(port: SocketAddr, row: &Row) -> String {
    let mut wire = Wire::open(port).expect("it listens");
    // A server that refuses the beginning may close before it has read the end.
    let _closed = wire.send(&row.bytes);
    let Some(answer) = wire.answer() else {
        return format!("{}: closed without an answer\n", row.name);
    };
    let mut fault = String::new();
    if (answer.status, row.code) != (row.status, if row.code < 0 { -1 } else { answer.code() }) {
        let _ = writeln!(
            fault,
            "{}: {} {} and not {} {}",
            row.name,
            answer.status,
            answer.code(),
            row.status,
            row.code
        );
    }
    for leak in ["server", "x-powered-by", "access-control-allow-origin"] {
        if !answer.header(leak).is_empty() {
            let _ = writeln!(fault, "{}: {leak} is told", row.name);
        }
    }
    if answer.header("server-time").is_empty() || answer.header("x-request-id").is_empty() {
        let _ = writeln!(fault, "{}: no time or id in {}", row.name, answer.head);
    }
    if answer.header("cache-control") != "no-store" {
        let _ = writeln!(fault, "{}: it may be kept", row.name);
    }
    if answer.status == 405 && answer.header("allow").is_empty() {
        let _ = writeln!(fault, "{}: 405 without Allow", row.name);
    }
    let goes_on = wire.send("GET /readyz HTTP/1.1\r\nHost: test\r\n\r\n").is_ok()
        && wire.answer().is_some_and(|answer| answer.status == 200);
    if goes_on == row.closes {
        let _ = writeln!(
            fault,
            "{}: the connection {}",
            row.name,
            if goes_on { "goes on" } else { "is closed" }
        );
    }
    fault
}

fn rows(stage: &Stage) -> Vec<Row> {
    let tables = [
        bodies::rows,
        identities::rows,
        others::rows,
        framing::rows,
        transport::rows,
        pages::rows,
    ];
    tables.iter().flat_map(|rows| rows(stage)).collect()
}

/// Requests that are refused for what they say, however they are framed.
pub(crate) fn refused_for_what_they_say(stage: &Stage) -> Vec<(String, Vec<u8>)> {
    let rows = [bodies::rows, identities::rows, others::rows];
    let rows = rows.into_iter().flat_map(|rows| rows(stage));
    // A proxy may end each line as it should be.
    let rows = rows.filter(|row| row.name != "B-17 a bare LF");
    rows.map(|row| (row.name, row.bytes)).collect()
}

/// Requests whose end two readers may see in two places, each with a request hidden behind it.
pub(crate) fn smuggling() -> Vec<(String, Vec<u8>)> {
    framing::smuggling()
}

/// Each of them comes to what it is to come to, and nothing of the sale changes.
fn all_are_refused(house: &House, port: SocketAddr, rows: &[Row]) {
    house.is_unmoved_by(|| {
        let faults: String = rows.iter().map(|row| fault(port, row)).collect();
        assert!(faults.is_empty(), "of {} rows:\n{faults}", rows.len());
    });
}

fn hostile_requests_are_refused(house: &House) {
    all_are_refused(house, house.server().public, &rows(&house.stage));
}

#[test]
fn hostile_requests_are_refused_and_change_nothing_in_one_process() {
    hostile_requests_are_refused(&Mode::OneProcess.house(&[]));
}

#[test]
fn hostile_requests_are_refused_and_change_nothing_on_redis() {
    hostile_requests_are_refused(&Mode::Redis.house(&[]));
}
