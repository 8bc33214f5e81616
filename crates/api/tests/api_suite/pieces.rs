//! Bodies as they come.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};

/// What a listener would say of a body that does not come.
#[derive(Debug, thiserror::Error)]
#[error("too slow")]
pub(crate) struct TooSlow;

/// A body in pieces, the last of which may be a failure, or may never come.
pub(crate) struct Pieces {
    left: Vec<Result<Bytes, TooSlow>>,
    ends: bool,
}

impl Pieces {
    pub(crate) fn new(pieces: impl IntoIterator<Item = Result<&'static [u8], TooSlow>>) -> Self {
        let mut pieces: Vec<_> = pieces.into_iter().map(|piece| piece.map(Bytes::from_static)).collect();
        pieces.reverse();
        Self {
            left: pieces,
            ends: true,
        }
    }

    pub(crate) fn one(piece: Bytes) -> Self {
        Self {
            left: vec![Ok(piece)],
            ends: true,
        }
    }

    /// A body of which nothing comes.
    pub(crate) const fn none() -> Self {
        Self {
            left: Vec::new(),
            ends: false,
        }
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = TooSlow;

    fn poll_frame(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, TooSlow>>> {
        match self.left.pop() {
            None if !self.ends => Poll::Pending,
            piece => Poll::Ready(piece.map(|piece| piece.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ends && self.left.is_empty()
    }
}
