//! `/readyz` and `/metrics`: what balancers and monitoring ask, without a token.

use std::sync::Arc;

use axum::extract::State;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use seckill_api::Answer;
use seckill_sale::Code;
use serde_json::json;

use crate::outer::Reply;
use crate::state::Console;

/// Whether the process may be sent buyers.
pub(crate) async fn readyz(State(console): State<Arc<Console>>) -> Reply {
    let state = json!({"state": console.readiness.as_str()});
    Reply(if console.readiness.is_ready() {
        Answer::fine(&state)
    } else {
        Answer::error(Code::Busy).data(&state)
    })
}

/// The page of metrics.
pub(crate) async fn metrics(State(console): State<Arc<Console>>) -> Reply {
    let page = Bytes::from(console.metrics.page());
    let answer = Answer::ready(StatusCode::OK, page)
        .header(CONTENT_TYPE, HeaderValue::from_static(seckill_metrics::CONTENT_TYPE))
        .header(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Reply(answer)
}
