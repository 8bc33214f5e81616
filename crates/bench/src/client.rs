//! A cheap HTTP/1.1 keep-alive connection.
//!
//! Client and server share the machine's cores, so what the client burns the server lacks: requests are ready-made bytes, one write and
//! (mostly) one read a request, one buffer a connection, one timer that is re-armed only when it fires. It follows no redirects, knows
//! no TLS, and never sends a request twice: after a lost answer nobody knows whether the server acted.

use std::net::SocketAddr;
use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use crate::wire;

/// A connection's buffer begins with this; an answer of the buy route is far smaller.
const BUFFER_BYTES: usize = 4 * 1024;
/// A larger answer is refused as malformed: nothing that is put under load answers megabytes.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Why a request has no answer. Its outcome at the server is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unanswered {
    /// No connection could be made; the request was never sent.
    Connect,
    /// The server closed before the answer was complete.
    Closed,
    /// The connection was reset.
    Reset,
    /// No complete answer within the limit.
    Timeout,
    /// Bytes came that are no HTTP/1.1 answer.
    Malformed,
}

/// The part of an answer that a measurement looks at.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// HTTP status.
    pub status: u16,
    /// The body's `code`, where it has one.
    pub code: Option<i32>,
    /// The raw body; without it chunked answers keep their sizes out of it.
    pub body: &'a [u8],
}

impl<'a> Answer<'a> {
    /// The body's `ticket`, where it has one.
    pub fn ticket(&self) -> Option<&'a str> {
        wire::ticket_of(self.body)
    }
}

/// One kept connection; it connects by itself when there is none.
#[derive(Debug)]
pub struct Connection {
    address: SocketAddr,
    stream: Option<TcpStream>,
    buffer: Vec<u8>,
    dechunked: Vec<u8>,
    deadline: Pin<Box<Sleep>>,
    limit: Duration,
}

impl Connection {
    /// A connection to `address` that is not open yet; every exchange must end within `limit`. Needs a runtime around it.
    pub fn new(address: SocketAddr, limit: Duration) -> Self {
        Self {
            address,
            stream: None,
            buffer: vec![0; BUFFER_BYTES],
            dechunked: Vec::new(),
            deadline: Box::pin(tokio::time::sleep(limit)),
            limit,
        }
    }

    /// Connects now, so that the first request doesn't pay for it.
    ///
    /// # Errors
    /// [`Unanswered::Connect`] or [`Unanswered::Timeout`].
    pub async fn open(&mut self) -> Result<(), Unanswered> {
        if self.stream.is_none() {
            let connecting = tokio::time::timeout(self.limit, TcpStream::connect(self.address));
            let stream = connecting
                .await
                .map_err(|_| Unanswered::Timeout)?
                .map_err(|_| Unanswered::Connect)?;
            stream.set_nodelay(true).map_err(|_| Unanswered::Connect)?;
            self.stream = Some(stream);
        }
        Ok(())
    }

    /// Sends the bytes of one whole request and reads its answer. After an error the next exchange connects anew.
    ///
    /// # Errors
    /// Why there is no answer; see [`Unanswered`].
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>, Unanswered> {
        self.open().await?;
        let mut stream = self.stream.take().expect("open() left a stream");
        let expires_at = Instant::now() + self.limit;
        let seen = tokio::select! {
            biased;
            seen = roundtrip(&mut stream, request, &mut self.buffer, &mut self.dechunked) => seen?,
            () = expired(self.deadline.as_mut(), expires_at) => return Err(Unanswered::Timeout),
        };
        if !seen.close {
            self.stream = Some(stream);
        }
        let body = match seen.body {
            Body::Buffered { start, end } => &self.buffer[start..end],
            Body::Dechunked => &self.dechunked[..],
        };
        Ok(Answer {
            status: seen.status,
            code: wire::code_of(body),
            body,
        })
    }
}

enum Body {
    Buffered { start: usize, end: usize },
    Dechunked,
}

struct Seen {
    status: u16,
    close: bool,
    body: Body,
}

async fn roundtrip(
    stream: &mut TcpStream,
    request: &[u8],
    buffer: &mut Vec<u8>,
    dechunked: &mut Vec<u8>,
) -> Result<Seen, Unanswered> {
    stream.write_all(request).await.map_err(lost)?;
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            if ANSWER_BYTES_MAX <= filled {
                return Err(Unanswered::Malformed);
            }
            buffer.resize(filled * 2, 0);
        }
        // A read that doesn't fill the buffer tells tokio that the socket is drained, which saves the read that would say so.
        let count = stream.read(&mut buffer[filled..]).await.map_err(lost)?;
        filled += count;
        match wire::parse(&buffer[..filled], count == 0) {
            Err(wire::Malformed) => return Err(Unanswered::Malformed),
            Ok(Some(response)) if response.length < filled => return Err(Unanswered::Malformed),
            Ok(Some(response)) => {
                let (status, close) = (response.status, response.close);
                let body = match response.body {
                    std::borrow::Cow::Borrowed(body) => Body::Buffered {
                        start: filled - body.len(),
                        end: filled,
                    },
                    std::borrow::Cow::Owned(body) => {
                        *dechunked = body;
                        Body::Dechunked
                    }
                };
                return Ok(Seen { status, close, body });
            }
            Ok(None) if count == 0 => return Err(Unanswered::Closed),
            Ok(None) => {}
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "shaped for map_err")]
fn lost(error: std::io::Error) -> Unanswered {
    match error.kind() {
        std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::BrokenPipe => Unanswered::Reset,
        _ => Unanswered::Closed,
    }
}

/// Ends at `at`. The timer may still stand on an earlier request's limit: it then fires too early and is moved, once per limit
/// instead of once per request.
async fn expired(mut timer: Pin<&mut Sleep>, at: Instant) {
    loop {
        timer.as_mut().await;
        if at <= Instant::now() {
            return;
        }
        timer.as_mut().reset(at.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Stub, run};

    const REQUEST: &[u8] = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
    const LIMIT: Duration = Duration::from_secs(20);

    #[test]
    fn one_connection_serves_many_requests() {
        let stub = Stub::answering(|_, _| Stub::json(202, r#"{"code":0,"data":{"ticket":"t"}}"#).into());
        run(async {
            let mut connection = Connection::new(stub.address, LIMIT);
            for _ in 0..3 {
                let answer = connection.exchange(REQUEST).await.unwrap();
                assert_eq!((answer.status, answer.code, answer.ticket()), (202, Some(0), Some("t")));
            }
        });
        assert_eq!(stub.connections(), 1);
    }

    #[test]
    fn answer_in_single_bytes_is_put_together() {
        let stub = Stub::answering(|_, _| Stub::json(410, r#"{"code":40005}"#).split_everywhere());
        run(async {
            let mut connection = Connection::new(stub.address, LIMIT);
            for _ in 0..2 {
                assert_eq!(connection.exchange(REQUEST).await.unwrap().code, Some(40005));
            }
        });
    }

    #[test]
    fn announced_close_leads_to_a_new_connection() {
        let stub = Stub::answering(|_, _| Stub::closing(503, r#"{"code":50300}"#).into());
        run(async {
            let mut connection = Connection::new(stub.address, LIMIT);
            for _ in 0..2 {
                let answer = connection.exchange(REQUEST).await.unwrap();
                assert_eq!((answer.status, answer.code), (503, Some(50300)));
            }
        });
        assert_eq!(stub.connections(), 2);
    }

    #[test]
    fn close_without_answer_is_unanswered_and_the_next_request_goes_on() {
        let stub = Stub::answering(|_, number| {
            if number == 0 {
                Stub::hang_up()
            } else {
                Stub::json(200, "{}").into()
            }
        });
        run(async {
            let mut connection = Connection::new(stub.address, LIMIT);
            assert_eq!(connection.exchange(REQUEST).await.unwrap_err(), Unanswered::Closed);
            assert_eq!(connection.exchange(REQUEST).await.unwrap().status, 200);
        });
    }

    #[test]
    fn large_chunked_body_grows_the_buffer() {
        let stub = Stub::answering(|_, _| Stub::chunked(&[&"a".repeat(9000), r#"{"code":7}"#]).into());
        run(async {
            let mut connection = Connection::new(stub.address, LIMIT);
            let answer = connection.exchange(REQUEST).await.unwrap();
            assert_eq!((answer.body.len(), answer.code), (9010, Some(7)));
        });
    }

    #[test]
    fn silence_becomes_a_timeout() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        run(async {
            let mut connection = Connection::new(silent.local_addr().unwrap(), Duration::from_millis(30));
            assert_eq!(connection.exchange(REQUEST).await.unwrap_err(), Unanswered::Timeout);
        });
    }

    #[test]
    fn nobody_listening_is_a_failed_connect() {
        let address = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        run(async {
            assert_eq!(
                Connection::new(address, LIMIT).exchange(REQUEST).await.unwrap_err(),
                Unanswered::Connect
            );
        });
    }
}
