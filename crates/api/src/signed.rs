//! Requests that a shop's own backend signs for its buyers, on the routes that are a user's: the whole request is read and its signature
//! checked, its nonce is taken in the store, and then it goes the way of all others, with the user for whom it was signed.
//!
//! A signature that does not hold is a missing identity and nothing worse: the gate refuses it in its turn, behind the limit of the address.
//! A good one does not count there, and which it is shows when body and store have answered. So that a flood of bad ones costs little:
//!
//! ```text
//! a route that is a user's, as the router knows it ──no──▶ 404, 405: the signature is not looked at
//!   │ a head that a client can have signed         ──no──▶ goes on without identity, its body unread
//!   │ the address pays: one permit                 ──no──▶ 40003
//!   │ a place among the purchases under way        ──no──▶ 50300, the permit is given back
//!   ▼ body and signature                           ─bad──▶ goes on without identity, paid
//!   │ good: the permit is given back; the nonce is not being asked for by another request
//!   │                                              ──no──▶ goes on without identity, paid
//!   ▼ the store: the nonce is new                  ──no──▶ the address pays after all, then the same
//! goes on as its user
//! ```
//!
//! - An address has no more unread bodies here than its limit has permits left, however many it sends at once. What breaks off stays paid.
//! - The permit comes back before the store is asked, or else a shop could have no more purchases under way than one visitor has. What is
//!   asked of the store beyond it is signed by a client; copies of it ask one by one, until their address has nothing left.
//! - The look at the store and its place live on when their request breaks off, so that breaking off brings no second one.

use std::future::poll_fn;
use std::sync::Arc;

use axum::extract::Request as RouterRequest;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use http::request::Parts;
use http::{HeaderMap, Request};
use http_body_util::Full;
use seckill_gate::{CLIENT_HEADER, Route, Signature};

use crate::answering::{Done, Work};
use crate::call::Call;
use crate::count;
use crate::error::Error;
use crate::extract::Incoming;
use crate::path;
use crate::router::Hot;
use crate::service;
use crate::signature_check::{Checked, SignatureCheck};

/// Routes on which a client may act for a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserRoute {
    Buy,
    Token,
    /// Results, streams, orders.
    Read,
}

impl UserRoute {
    /// Which limit of its address it counts.
    const fn limit(self) -> Route {
        match self {
            Self::Buy | Self::Token => Route::Purchase,
            Self::Read => Route::Read,
        }
    }

    /// Counts what was refused before the route was reached, as the route would.
    fn count_refused(self, call: &Call, error: &Error) {
        match (self, error) {
            (Self::Buy, error) => count::purchase_refused(call, None, error),
            (Self::Token, Error::Refused(refusal)) => count::limited(call, refusal),
            (Self::Read, Error::Refused(refusal)) => count::read_limited(call, refusal),
            (Self::Token | Self::Read, _) => {}
        }
    }
}

/// Does what is asked on a hot route, once its signature is checked.
pub(crate) fn begin<B: Incoming + 'static>(
    call: &Call,
    (hot, route): (Hot, UserRoute),
    has_key: bool,
    request: Request<B>,
) -> Work {
    let check = match begin_check(call, route, request.uri().path(), request.headers()) {
        Ok(Some(check)) => check,
        Ok(None) => {
            let call = with(Signature::Malformed, call.clone());
            return service::begin_hot(&call, hot, has_key, request);
        }
        Err(error) => return Work::Done(Some(Err(error))),
    };
    Work::Later(Box::pin(async move {
        let (head, body) = request.into_parts();
        match finish_check(check, route, &head, body).await {
            Ok((call, bytes)) => {
                let mut work = service::begin_hot(&call, hot, has_key, Request::from_parts(head, Full::new(bytes)));
                poll_fn(|context| work.poll(context)).await
            }
            Err(error) => Done::Answered(Err(error)),
        }
    }))
}

/// The same for the methods of a route behind the router. Other methods are refused without a look.
pub(crate) fn may_be_signed(route: UserRoute, methods: MethodRouter) -> MethodRouter {
    methods.route_layer(from_fn(move |call, request, next| pass(route, call, request, next)))
}

async fn pass(route: UserRoute, call: Call, request: RouterRequest, next: Next) -> Response {
    if !request.headers().contains_key(CLIENT_HEADER) {
        return next.run(request).await;
    }
    match checked(route, &call, request).await {
        Ok(request) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// The request with what its signature came to.
async fn checked(route: UserRoute, call: &Call, request: RouterRequest) -> Result<RouterRequest, Error> {
    let (mut head, body) = request.into_parts();
    let (call, body) = match begin_check(call, route, head.uri.path(), &head.headers)? {
        None => (with(Signature::Malformed, call.clone()), body),
        Some(check) => {
            let (call, bytes) = finish_check(check, route, &head, body).await?;
            (call, bytes.into())
        }
    };
    head.extensions.insert(call);
    Ok(RouterRequest::from_parts(head, body))
}

/// None where no client can have signed it.
fn begin_check(
    call: &Call,
    route: UserRoute,
    path: &str,
    headers: &HeaderMap,
) -> Result<Option<SignatureCheck>, Error> {
    if !call.shared().gate.clients().may_have_signed(headers, call.moment.now) {
        return Ok(None);
    }
    let begun = SignatureCheck::begin(call, route.limit(), path::sale(path), headers).map_err(Error::from);
    begun.map(Some).inspect_err(|error| route.count_refused(call, error))
}

/// The call with what the signature came to, and the body.
async fn finish_check(
    check: SignatureCheck,
    route: UserRoute,
    head: &Parts,
    body: impl Incoming,
) -> Result<(Call, bytes::Bytes), Error> {
    let call = check.call().clone();
    match check.finish(head, body).await {
        Ok(Checked { signature, body }) => {
            let moment = call.shared().moment();
            Ok((with(signature, Call { moment, ..call }), body))
        }
        Err(error) => {
            route.count_refused(&call, &error);
            Err(error)
        }
    }
}

fn with(signature: Signature, call: Call) -> Call {
    Call {
        signature: Some(Arc::new(signature)),
        ..call
    }
}
