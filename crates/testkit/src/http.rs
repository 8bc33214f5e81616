//! One request, one connection: enough for tests, and nothing that could hide what the server does.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Longest wait for an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The head, status line included.
    pub head: String,
    /// The body as JSON; null where it is none.
    pub json: Value,
}

impl Answer {
    /// The code in the body; -1 where there is none.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.json["code"].as_i64().unwrap_or(-1)
    }

    /// The body's data.
    #[must_use]
    pub fn data(&self) -> &Value {
        &self.json["data"]
    }

    /// A header's value; empty where it is not there.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
            .next()
            .unwrap_or_default()
    }
}

/// Sends a request and reads its answer. `headers` are whole lines without their ends.
///
/// # Errors
/// The connection was refused, reset, or closed before a whole answer came.
pub fn call(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[String],
    body: Option<&str>,
) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    let body = body.unwrap_or_default();
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    if !body.is_empty() {
        request.push_str("Content-Type: application/json\r\n");
    }
    headers.iter().for_each(|line| request.push_str(&format!("{line}\r\n")));
    request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    parse(&bytes).ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "no whole answer"))
}

/// The body of a page as text.
///
/// # Errors
/// As [`call`].
pub fn text(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text
        .split_once("\r\n\r\n")
        .map(|(_, body)| body.to_owned())
        .unwrap_or_default())
}

fn parse(bytes: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut answer = Answer {
        status,
        head: head.to_owned(),
        json: Value::Null,
    };
    let length = answer.header("content-length").parse::<usize>().ok();
    if length.is_some_and(|length| body.len() < length) {
        return None;
    }
    answer.json = serde_json::from_str(body).unwrap_or(Value::Null);
    Some(answer)
}
