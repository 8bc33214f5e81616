//! Requests that a shop's own backend signs for its buyers, on the routes that are a user's: the whole request is read and its signature
//! checked, its nonce is taken in the store, and then it goes the way of all others, with the user for whom it was signed.
//!
//! A signature that does not hold is a missing identity and nothing worse: the gate refuses it in its turn, behind the limit of the address.
//! A good one does not count there, and which it is shows when body and store have answered. So a flood of bad ones meets three checks
//! before these are asked: the form of the head, what their address has left, and a place among the purchases under way.

use std::future::poll_fn;
use std::sync::Arc;

use axum::Router;
use bytes::Bytes;
use http::Request;
use http::request::Parts;
use http_body_util::Full;
use seckill_gate::{Route, Signature, SignedRequest};
use seckill_sale::Refusal;

use crate::answering::{Done, Work};
use crate::call::Call;
use crate::count;
use crate::error::Error;
use crate::extract::{self, Incoming};
use crate::in_flight::UnderWay;
use crate::path;
use crate::router::Hot;
use crate::service;

/// Paths below which a client may act for a user.
const SIGNED: [&str; 3] = ["/api/seckill/", "/api/orders", "/api/orders/"];

/// Whether a request with a client's name in it goes this way.
pub(crate) fn is_signed(call: &Call, path: &str) -> bool {
    let below = |place: &str| path == place || (place.ends_with('/') && path.starts_with(place));
    !call.shared().gate.clients().is_empty() && SIGNED.into_iter().any(below)
}

/// Checks the signature, then does what was asked.
pub(crate) fn begin<B: Incoming + 'static>(
    call: &Call,
    hot: Option<Hot>,
    has_key: bool,
    router: &Router,
    request: Request<B>,
) -> Work {
    let gate = &call.shared().gate;
    if !gate.clients().may_have_signed(request.headers(), call.moment.now) {
        let call = with(Signature::Bad, call.clone());
        return service::handle(&call, hot, has_key, router, request);
    }
    let route = route(hot, request.uri().path());
    let sale = path::sale(request.uri().path());
    let looked = gate.look_at_address(call.at_gate(request.headers()), route, call.moment);
    if let Err(refusal) = looked.and_then(|()| call.check_in_flight(sale)) {
        let error = refusal.into();
        count_refused(call, hot, route, &error);
        return Work::Done(Some(Err(error)));
    }
    let router = router.clone();
    // Until the signature is checked: bodies that trickle in are as many as purchases may be.
    let under_way = UnderWay::begin(call.clone(), sale);
    Work::Later(Box::pin(async move {
        let (head, body) = request.into_parts();
        let checked = checked(&under_way.0, &head, body).await;
        let call = under_way.0.clone();
        drop(under_way);
        match checked {
            Ok((signature, bytes)) => {
                let moment = call.shared().moment();
                let call = with(signature, Call { moment, ..call });
                let request = Request::from_parts(head, Full::new(bytes));
                let mut work = service::handle(&call, hot, has_key, &router, request);
                poll_fn(|context| work.poll(context)).await
            }
            Err(error) => {
                count_refused(&call, hot, route, &error);
                Done::Answered(Err(error))
            }
        }
    }))
}

fn with(signature: Signature, call: Call) -> Call {
    Call {
        signature: Some(Arc::new(signature)),
        ..call
    }
}

/// Which limit of its address the route counts.
fn route(hot: Option<Hot>, path: &str) -> Route {
    if hot == Some(Hot::Buy) || path.ends_with("/token") {
        Route::Purchase
    } else {
        Route::Read
    }
}

/// Counts what was refused before its route was reached, as that route would.
fn count_refused(call: &Call, hot: Option<Hot>, route: Route, error: &Error) {
    match (hot, route, error) {
        (Some(Hot::Buy), _, error) => count::purchase_refused(call, None, error),
        (_, Route::Purchase, Error::Refused(refusal)) => count::limited(call, refusal),
        (_, Route::Read, Error::Refused(refusal)) => count::read_limited(call, refusal),
        _ => {}
    }
}

async fn checked(call: &Call, head: &Parts, body: impl Incoming) -> Result<(Signature, Bytes), Error> {
    let shared = call.shared();
    let bytes = match extract::read(call, &head.headers, body, shared.settings.body_bytes_max).await {
        Ok(bytes) => bytes,
        Err(error) => {
            shared.gate.arrive(call.at_gate(&head.headers), call.moment)?;
            return Err(error);
        }
    };
    let request = SignedRequest {
        method: head.method.as_str(),
        target: head.uri.path_and_query().map_or("/", |target| target.as_str()),
        headers: &head.headers,
        body: &bytes,
    };
    let Some(vouched) = shared.gate.clients().verify(request, shared.moment().now) else {
        return Ok((Signature::Bad, bytes));
    };
    let first = shared.stock.permit(vouched.nonce(), 1, vouched.until()).await;
    let signature = match first {
        Ok(true) => Signature::Good(vouched),
        Ok(false) => Signature::Bad,
        // Whether the nonce is used up is not known, and nothing was done: the client signs another request.
        Err(seckill_stock::Error::OutcomeUnknown | seckill_stock::Error::Unavailable) => {
            return Err(Refusal::Busy.into());
        }
        Err(seckill_stock::Error::NotReady(reason)) => return Err(Refusal::NotReady(reason).into()),
    };
    Ok((signature, bytes))
}
