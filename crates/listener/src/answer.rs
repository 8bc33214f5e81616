//! What goes back: the service's answer, watched to its end, or an error that never reached a
//! service.

use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};

use crate::watch::Watch;

/// Words the answers that never reach the service: 400 for a head that can't be read or is
/// ambiguous, 408 for a head that came too slowly, 414 and 431 for one that is too large.
///
/// `content-length` and `connection: close` are added; everything else, the date included, is the
/// caller's.
pub type ErrorAnswers = Arc<dyn Fn(StatusCode) -> Response<Bytes> + Send + Sync>;

/// Error answers without a word: for benchmarks, and tests that don't look at them.
#[must_use]
pub fn bare_error_answers() -> ErrorAnswers {
    Arc::new(|status| {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = status;
        response
    })
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) struct Answer<B> {
    source: Source<B>,
    watch: Arc<Watch>,
}

#[derive(Debug)]
enum Source<B> {
    Service(B),
    Own(Option<Bytes>),
}

impl<B> Answer<B> {
    pub(crate) fn of_service(body: B, watch: Arc<Watch>) -> Self {
        Self {
            source: Source::Service(body),
            watch,
        }
    }

    pub(crate) fn own(bytes: Bytes, watch: Arc<Watch>) -> Self {
        Self {
            source: Source::Own(Some(bytes).filter(|bytes| !bytes.is_empty())),
            watch,
        }
    }
}

impl<B> Drop for Answer<B> {
    fn drop(&mut self) {
        self.watch.end_answer();
    }
}

impl<B> HttpBody for Answer<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match &mut self.source {
            Source::Service(body) => Pin::new(body).poll_frame(context),
            Source::Own(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Service(body) => body.is_end_stream(),
            Source::Own(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Service(body) => body.size_hint(),
            Source::Own(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
        }
    }
}

/// `response` as bytes on the wire, closing the connection.
pub(crate) fn encode(response: &Response<Bytes>) -> Vec<u8> {
    let status = response.status();
    let body = response.body();
    let mut bytes = Vec::with_capacity(256 + body.len());
    let reason = status.canonical_reason().unwrap_or("Error");
    write!(bytes, "HTTP/1.1 {} {reason}\r\n", status.as_u16()).expect("writing to memory");
    for (name, value) in response.headers() {
        if name != http::header::CONTENT_LENGTH && name != http::header::CONNECTION {
            bytes.extend_from_slice(name.as_str().as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value.as_bytes());
            bytes.extend_from_slice(b"\r\n");
        }
    }
    write!(bytes, "connection: close\r\ncontent-length: {}\r\n\r\n", body.len()).expect("writing to memory");
    bytes.extend_from_slice(body);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_answer_is_complete_and_closes() {
        let response = Response::builder()
            .status(StatusCode::REQUEST_TIMEOUT)
            .header("server-time", "1700000000000")
            .header("content-length", "999")
            .body(Bytes::from_static(b"{}"))
            .expect("a valid answer");
        let text = String::from_utf8(encode(&response)).expect("ASCII");
        assert_eq!(
            text,
            "HTTP/1.1 408 Request Timeout\r\nserver-time: 1700000000000\r\nconnection: close\r\n\
             content-length: 2\r\n\r\n{}"
        );
    }
}
