//! Bodies as they come in.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use tokio::sync::oneshot;

/// What a listener would say of a body that does not come.
#[derive(Debug, thiserror::Error)]
#[error("too slow")]
pub(crate) struct TooSlow;

/// A body in pieces, the last of which may be a failure.
pub(crate) struct Pieces {
    pieces: Vec<Result<Bytes, TooSlow>>,
    /// It is held back until somebody says so.
    held: Option<Held>,
}

/// Until when a body is held back.
enum Held {
    Until(oneshot::Receiver<()>),
    ForEver,
}

impl Pieces {
    pub(crate) fn new(pieces: impl IntoIterator<Item = Result<&'static [u8], TooSlow>>) -> Self {
        let mut pieces: Vec<_> = pieces.into_iter().map(|piece| piece.map(Bytes::from_static)).collect();
        pieces.reverse();
        Self { pieces, held: None }
    }

    /// A body in one piece.
    pub(crate) fn whole(body: Bytes) -> Self {
        Self {
            pieces: vec![Ok(body)],
            held: None,
        }
    }

    /// An empty body whose end comes when the other says so.
    pub(crate) fn held() -> (Self, oneshot::Sender<()>) {
        let (release, held) = oneshot::channel();
        let held = Some(Held::Until(held));
        (
            Self {
                pieces: Vec::new(),
                held,
            },
            release,
        )
    }

    /// A body that never comes.
    pub(crate) fn never() -> Self {
        let held = Some(Held::ForEver);
        Self {
            pieces: Vec::new(),
            held,
        }
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = TooSlow;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, TooSlow>>> {
        match &mut self.held {
            Some(Held::ForEver) => return Poll::Pending,
            Some(Held::Until(released)) => _ = ready!(Pin::new(released).poll(context)),
            None => {}
        }
        self.held = None;
        Poll::Ready(self.pieces.pop().map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.held.is_none() && self.pieces.is_empty()
    }
}
