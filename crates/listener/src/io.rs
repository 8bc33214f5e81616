//! The socket as hyper sees it: tells the watch what moves, and takes hyper's own error answers out
//! of what is written.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::admission::Permit;
use crate::own_error;
use crate::phase::{Phase, Verdict};
use crate::watch::Watch;

/// A watched socket. It holds the connection's permit, so that an upgraded connection counts until
/// whoever took it lets it go.
#[derive(Debug)]
pub(crate) struct Io {
    stream: TcpStream,
    watch: Arc<Watch>,
    owed: Option<StatusCode>,
    permit: Permit,
}

impl Io {
    pub(crate) fn new(stream: TcpStream, watch: Arc<Watch>, permit: Permit) -> Self {
        Self {
            stream,
            watch,
            owed: None,
            permit,
        }
    }

    /// The socket, and the error that hyper meant to answer and we still owe.
    pub(crate) fn into_parts(self) -> (TcpStream, Option<StatusCode>, Permit) {
        (self.stream, self.owed, self.permit)
    }

    fn own_error(&self, bytes: &[u8]) -> Option<own_error::OwnError> {
        use std::sync::atomic::Ordering::Relaxed;
        let between_requests = matches!(self.watch.phase(), Phase::Fresh | Phase::Head | Phase::Idle);
        if !between_requests || self.watch.answers_barely.load(Relaxed) {
            return None;
        }
        own_error::find(bytes)
    }
}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let received = &buffer.filled()[before..];
        if !received.is_empty() {
            self.watch.received(received);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Io {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut bytes = bytes;
        if let Some(own) = self.own_error(bytes) {
            if own.start == 0 {
                self.owed = Some(own.status);
                return Poll::Ready(Ok(bytes.len()));
            }
            // Answers before it go first; hyper comes again with the rest.
            bytes = &bytes[..own.start];
        }
        if self.watch.verdict() == Some(Verdict::Stalled) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Pending => {
                self.watch.write_waits(context);
                Poll::Pending
            }
            Poll::Ready(written) => {
                self.watch.write_moved();
                Poll::Ready(written)
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.owed.is_some() {
            // The connection's task still has an answer to send.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
