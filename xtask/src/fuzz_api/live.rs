//! `GET /admin/api/live`: a stream without an end, for which schemathesis would wait. Here each one is let go after its first event.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Context as _;

/// Longest wait for a line.
const LINE_WITHIN: Duration = Duration::from_secs(20);
/// Lines of a head and a first event.
const LINES_MAX: usize = 100;
/// More streams than may be open at the same time.
const STREAMS: usize = 40;

/// What comes behind the path, and the status that it is worth.
const QUERIES: &[(&str, u16)] = &[
    ("", 200),
    ("?", 200),
    ("?activity=1", 200),
    ("?activity=999999", 404),
    ("?activity=9007199254740991", 404),
    ("?activity=18446744073709551615", 404),
    ("?activity=18446744073709551616", 400),
    ("?activity=0", 404),
    ("?activity=", 400),
    ("?activity", 400),
    ("?activity=-1", 400),
    ("?activity=+1", 400),
    ("?activity=01", 400),
    ("?activity=1.0", 400),
    ("?activity=1e3", 400),
    ("?activity=%31", 200),
    ("?activity=%00", 400),
    ("?activity=%ff", 400),
    ("?activity=%0d%0aevent:x", 400),
    ("?activity=%EF%BC%91", 400),
    ("?activity=null", 400),
    ("?activity=1&activity=2", 400),
    ("?activity[]=1", 400),
    ("?Activity=1", 400),
    ("?other=1", 400),
    ("?activity=1&other=1", 400),
    ("?%", 400),
    ("?&&&", 200),
];

/// A stream whose head, and first event where there is one, were read.
struct Opened {
    status: u16,
    _stream: TcpStream,
}

/// Asks for streams of every kind, and for more than there may be.
///
/// # Errors
/// An answer of another status than it should have, or none in time.
pub(super) fn ask(address: SocketAddr, token: &str) -> anyhow::Result<()> {
    let bearer = format!("Authorization: Bearer {token}\r\n");
    for (query, status) in QUERIES {
        let opened = open(address, query, &bearer).with_context(|| format!("/admin/api/live{query}"))?;
        anyhow::ensure!(
            opened.status == *status,
            "/admin/api/live{query}: {} and not {status}",
            opened.status
        );
    }
    let stranger = open(address, "", "")?;
    anyhow::ensure!(
        stranger.status == 401,
        "/admin/api/live without a token: {}",
        stranger.status
    );
    let many = (0..STREAMS)
        .map(|_| open(address, "", &bearer))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let wrong = many.iter().find(|opened| !matches!(opened.status, 200 | 429));
    anyhow::ensure!(
        wrong.is_none(),
        "/admin/api/live in a crowd: {:?}",
        wrong.map(|opened| opened.status)
    );
    anyhow::ensure!(
        many.iter().any(|opened| opened.status == 429),
        "{STREAMS} streams of /admin/api/live at the same time"
    );
    Ok(())
}

fn open(address: SocketAddr, query: &str, lines: &str) -> anyhow::Result<Opened> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(LINE_WITHIN))?;
    write!(
        stream,
        "GET /admin/api/live{query} HTTP/1.1\r\nHost: {address}\r\n{lines}\r\n"
    )?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut next = || -> anyhow::Result<String> {
        let mut line = String::new();
        reader.read_line(&mut line).context("no line in time")?;
        Ok(line)
    };
    let first = next()?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status: u16 = status.with_context(|| format!("no status: {first:?}"))?;
    if status == 200 {
        let mut is_told = false;
        for _ in 0..LINES_MAX {
            is_told = next()?.starts_with("data: {");
            if is_told {
                break;
            }
        }
        anyhow::ensure!(is_told, "no event within {LINES_MAX} lines");
    }
    Ok(Opened {
        status,
        _stream: stream,
    })
}
