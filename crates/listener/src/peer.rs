//! Who is at the other end of a connection, and the cheap and the convenient way to learn it.

use std::net::SocketAddr;
use std::task::{Context, Poll};

use http::Request;
use tower::Service;

/// The other end of a connection and the core that serves it. Made once per connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The client's address; IPv4 clients of an IPv6 socket appear as IPv4.
    pub address: SocketAddr,
    /// Index of the core, `0..cores`: for counters and caches that cores don't share.
    pub core: usize,
}

/// A service that puts [`Peer`] into the extensions of every request before `inner` sees it.
///
/// Convenient for an axum `Router`. A service that counts nanoseconds takes the peer as a field
/// from its factory instead: the first extension of a request allocates a map.
#[derive(Clone, Debug)]
pub struct WithPeer<S> {
    inner: S,
    peer: Peer,
}

impl<S> WithPeer<S> {
    /// `inner` for the connection of `peer`.
    pub fn new(inner: S, peer: Peer) -> Self {
        Self { inner, peer }
    }
}

impl<S, B> Service<Request<B>> for WithPeer<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        request.extensions_mut().insert(self.peer);
        self.inner.call(request)
    }
}
