//! The bare answer on the very same accept loop: what benchmarks compare the product with.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use http_body::Body as _;
use http_body_util::Full;
use tower::Service;

use crate::body::Body;
use crate::peer::Peer;

/// A body as long as an ordinary answer of the product: 160 bytes.
const ANSWER: &[u8; 160] = b"{\"code\":0,\"message\":\"hello\",\"data\":{\"padding\":\"\
0123456789012345678901234567890123456789012345678901234567890123456\"},\
\"request_id\":\"0123456789abcdef0123456789a\"}";

/// A service that reads the whole request body and answers 200 with 160 fixed bytes.
#[derive(Clone, Copy, Debug)]
pub struct Hello;

/// The factory to pass to [`crate::Server::serve`].
pub fn core(_index: usize) -> impl Fn(Peer) -> Hello {
    |_peer| Hello
}

impl Service<Request<Body>> for Hello {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Drained;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Drained {
            body: request.into_body(),
        }
    }
}

/// Resolves to the answer once the request body was read to its end.
#[derive(Debug)]
pub struct Drained {
    body: Body,
}

impl Future for Drained {
    type Output = Result<Response<Full<Bytes>>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        while !self.body.is_end_stream() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(_)) => {}
                Some(Err(_)) | None => break,
            }
        }
        let mut response = Response::new(Full::new(Bytes::from_static(ANSWER)));
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Poll::Ready(Ok(response))
    }
}
