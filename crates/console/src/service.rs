//! One client's connection: tells the router whose it is.

use std::convert::Infallible;
use std::net::IpAddr;
use std::task::{Context, Poll};

use axum::body::HttpBody;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::future::RouteFuture;
use axum::{BoxError, Router};
use bytes::Bytes;
use tower::Service;

/// The address at the other end, as it travels with a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The router for one client.
#[derive(Debug, Clone)]
pub struct Connection {
    router: Router,
    peer: Peer,
}

impl Connection {
    /// `router` for the client at `address`.
    #[must_use]
    pub const fn new(router: Router, address: IpAddr) -> Self {
        Self {
            router,
            peer: Peer(address),
        }
    }
}

impl<B> Service<http::Request<B>> for Connection
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = RouteFuture<Infallible>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request>::poll_ready(&mut self.router, context)
    }

    fn call(&mut self, mut request: http::Request<B>) -> Self::Future {
        request.extensions_mut().insert(self.peer);
        self.router.call(request)
    }
}
