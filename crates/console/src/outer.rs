//! Around every request: its id, its panic, its count, and the wording of its answer. Handlers say what; language, request id, server
//! time and the headers that browsers need are added here, once.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::header::{CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use http::{HeaderMap, HeaderValue, Method};
use seckill_api::{Answer, IDEMPOTENCY_REPLAYED, language_of, request_id_of};
use seckill_metrics::Core;
use seckill_sale::Code;

use crate::router::UNKNOWN_ROUTE;
use crate::state::Console;

/// An answer on its way out: it travels beside an empty body and is worded here.
#[derive(Debug, Clone)]
pub(crate) struct Reply(pub(crate) Answer);

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let mut response = Response::default();
        response.extensions_mut().insert(self);
        response
    }
}

/// Stands on a response whose body is a stream: it is sent as it is, behind the head of its [`Reply`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streamed;

/// What tells browsers to run nothing that is not ours and to show us in no frame.
const GUARDS: [(HeaderName, HeaderValue); 4] = [
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    ),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

pub(crate) async fn answer(State(console): State<Arc<Console>>, request: Request, next: Next) -> Response {
    let id = request_id_of(request.headers());
    let language = language_of(request.headers());
    let method = request.method().clone();
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map_or(UNKNOWN_ROUTE, MatchedPath::as_str);

    let (answer, others, stream) = run(request, next).await;
    let mut response = answer.render(&id, language, console.now(), others).map(Body::new);
    if let Some(stream) = stream {
        *response.body_mut() = stream;
    }
    response.headers_mut().extend(GUARDS);
    // An error says nothing of the kind.
    if !response.status().is_success() {
        response.headers_mut().remove(IDEMPOTENCY_REPLAYED);
    }

    let status = response.status().as_u16();
    let counted = &console.metrics.http_requests;
    counted.inc(Core::OTHER, counted.route(route), method.as_str(), status);
    if !matches!(method, Method::GET | Method::HEAD) {
        tracing::info!(request_id = id.as_str(), %method, route, status, "operator");
    }
    response
}

/// What the handler said, with the headers that axum set, and the body where it is a stream.
async fn run(request: Request, next: Next) -> (Answer, HeaderMap, Option<Body>) {
    if *request.method() == Method::CONNECT {
        return (Answer::to_connect(), HeaderMap::new(), None);
    }
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(mut response) => {
            let reply = response.extensions_mut().remove::<Reply>();
            let stream = response.extensions_mut().remove::<Streamed>();
            let stream = stream.map(|_| std::mem::take(response.body_mut()));
            // Whatever did not come from a handler of ours is a bug; its text is not shown.
            let answer = reply.map_or_else(|| Answer::error(Code::Internal), |Reply(answer)| answer);
            (answer, std::mem::take(response.headers_mut()), stream)
        }
        Err(_panic) => {
            tracing::error!("a handler of the console panicked");
            (Answer::error(Code::Internal), HeaderMap::new(), None)
        }
    }
}
