//! Single requests: one connection a call, blocking. For preparing and auditing, where cost doesn't matter; load comes from `client`.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::{Error, Result, wire};

/// How long one answer may take: an audit counts every row of a sale, and there may be a million of them.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);
/// A larger answer is refused.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;
/// How much of a bad answer an error shows.
const ERROR_BODY_BYTES: usize = 300;

/// What a request carries.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// Its `Content-Type`.
    pub media_type: &'a str,
    /// The body's bytes.
    pub bytes: &'a [u8],
    /// Its `Idempotency-Key`, of visible ASCII characters.
    pub idempotency_key: Option<&'a str>,
}

/// One answer, whole.
#[derive(Debug, Clone)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The body's bytes.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as JSON; null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn expect(self, status: u16, what: &str) -> Result<Value> {
        if self.status == status {
            return Ok(self.json()["data"].take());
        }
        let shown = &self.body[..self.body.len().min(ERROR_BODY_BYTES)];
        Err(Error::Answer {
            what: what.to_owned(),
            status: self.status,
            body: String::from_utf8_lossy(shown).into_owned(),
        })
    }
}

/// Fetches `path`, with a bearer token where given.
///
/// # Errors
/// [`Error::Io`] when the server can't be reached, [`Error::Malformed`] for an answer that is none.
pub fn get(address: SocketAddr, path: &str, token: Option<&str>) -> Result<Answer> {
    call(address, "GET", path, token, None)
}

/// One request with a JSON body, or none, over a connection of its own.
///
/// # Errors
/// As with [`get`].
pub fn call(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: Option<&Value>,
) -> Result<Answer> {
    let json = body.map(Value::to_string).unwrap_or_default();
    let content = Content {
        media_type: "application/json",
        bytes: json.as_bytes(),
        idempotency_key: None,
    };
    send(address, method, path, token, content)
}

/// One request with any body over a connection of its own.
///
/// # Errors
/// As with [`get`].
pub fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: Option<&str>,
    content: Content<'_>,
) -> Result<Answer> {
    let Content {
        media_type,
        bytes,
        idempotency_key,
    } = content;
    let what = || format!("{method} http://{address}{path}");
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_LIMIT).map_err(Error::io(what()))?;
    stream.set_read_timeout(Some(ANSWER_LIMIT)).map_err(Error::io(what()))?;
    stream
        .set_write_timeout(Some(ANSWER_LIMIT))
        .map_err(Error::io(what()))?;
    stream.set_nodelay(true).map_err(Error::io(what()))?;
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nAccept-Language: en\r\nConnection: close\r\n");
    if let Some(token) = token {
        request.push_str(&format!("Authorization: Bearer {token}\r\n"));
    }
    if let Some(key) = idempotency_key {
        request.push_str(&format!("Idempotency-Key: {key}\r\n"));
    }
    if method != "GET" {
        request.push_str(&format!(
            "Content-Type: {media_type}\r\nContent-Length: {}\r\n",
            bytes.len()
        ));
    }
    request.push_str("\r\n");
    let request = [request.as_bytes(), bytes].concat();
    match stream.write_all(&request).map_err(Error::io(what())) {
        Ok(()) => read_answer(&mut stream, &what()),
        // Whoever refuses a body need not read all of it: the answer says why.
        Err(error) => read_answer(&mut stream, &what()).map_err(|_| error),
    }
}

/// Reads until the answer is complete: a server that keeps the connection open in spite of the request must not hold us up.
fn read_answer(stream: &mut TcpStream, what: &str) -> Result<Answer> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; READ_BYTES];
    loop {
        let count = stream.read(&mut piece).map_err(Error::io(what))?;
        bytes.extend_from_slice(&piece[..count]);
        match wire::parse(&bytes, count == 0) {
            Ok(Some(response)) => {
                return Ok(Answer {
                    status: response.status,
                    body: response.body.into_owned(),
                });
            }
            Ok(None) if count != 0 && bytes.len() < ANSWER_BYTES_MAX => {}
            _ => return Err(Error::Malformed { what: what.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stub;

    #[test]
    fn server_that_keeps_the_connection_does_not_hold_the_call_up() {
        let stub = Stub::answering(|_, _| Stub::json(200, "{}").split_everywhere());
        assert_eq!(get(stub.address, "/", None).unwrap().body, b"{}");
    }

    #[test]
    fn cut_answer_is_malformed() {
        let stub = Stub::answering(|_, _| Stub::hang_up());
        assert!(matches!(get(stub.address, "/", None), Err(Error::Malformed { .. })));
    }
}
