//! The body of an answer: one piece for almost all of them, so that a hot answer costs no box; a stream for what axum made.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

/// The body of an answer.
#[derive(Debug)]
pub struct Body(Source);

#[derive(Debug)]
enum Source {
    Whole(Option<Bytes>),
    Stream(axum::body::Body),
}

impl Body {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self(Source::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }

    pub(crate) const fn stream(body: axum::body::Body) -> Self {
        Self(Source::Stream(body))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match &mut self.0 {
            Source::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Source::Stream(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Source::Whole(bytes) => bytes.is_none(),
            Source::Stream(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Source::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Source::Stream(body) => body.size_hint(),
        }
    }
}
