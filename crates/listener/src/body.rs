//! The request body as services see it: hyper's, with a deadline for the whole of it.

use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;

use crate::watch::Watch;

/// The whole request body didn't arrive within [`crate::Limits::body_timeout`]: answer 408.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("request body took too long")]
pub struct BodyTimeout;

/// Whether `error`, or anything it was caused by, is [`BodyTimeout`]. Frameworks wrap the errors of
/// bodies, so the marker lies somewhere down the chain.
#[must_use]
pub fn is_body_timeout(error: &(dyn StdError + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<BodyTimeout>() {
            return true;
        }
        next = error.source();
    }
    false
}

/// A request body that must arrive in time.
#[derive(Debug)]
pub struct Body {
    incoming: Incoming,
    /// None where there is nothing to wait for.
    watch: Option<Arc<Watch>>,
}

impl Body {
    pub(crate) fn new(incoming: Incoming, watch: &Arc<Watch>) -> Self {
        if incoming.is_end_stream() {
            return Self { incoming, watch: None };
        }
        watch.begin_body();
        Self {
            incoming,
            watch: Some(Arc::clone(watch)),
        }
    }

    fn finish(&mut self) {
        if let Some(watch) = self.watch.take() {
            watch.end_body();
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.finish();
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Box<dyn StdError + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.watch.as_ref().is_some_and(|watch| watch.body_expired()) {
            return Poll::Ready(Some(Err(Box::new(BodyTimeout))));
        }
        // The parser is fed by the same bytes, and before the body is asked for them.
        if self
            .watch
            .as_ref()
            .is_some_and(|watch| watch.tape.lock().body_is_ambiguous())
        {
            self.finish();
            return Poll::Ready(Some(Err("the framing of the body is ambiguous".into())));
        }
        match Pin::new(&mut self.incoming).poll_frame(context) {
            Poll::Pending => {
                if let Some(watch) = &self.watch {
                    watch.body_waits(context);
                }
                Poll::Pending
            }
            Poll::Ready(Some(Ok(frame))) => {
                if self.incoming.is_end_stream() {
                    self.finish();
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => {
                self.finish();
                Poll::Ready(Some(Err(Box::new(error))))
            }
            Poll::Ready(None) => {
                self.finish();
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("buffering failed")]
    struct Wrapped(#[source] Box<dyn StdError + Send + Sync>);

    #[test]
    fn marker_is_found_down_the_chain() {
        assert!(is_body_timeout(&BodyTimeout));
        assert!(is_body_timeout(&Wrapped(Box::new(Wrapped(Box::new(BodyTimeout))))));
        assert!(!is_body_timeout(&Wrapped("connection reset".into())));
    }
}
