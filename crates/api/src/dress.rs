//! The headers of answers: an answer's own, and what stands on every one.

use std::cell::RefCell;
use std::sync::LazyLock;

use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};
use seckill_sale::{EpochMs, RequestId};

use crate::request_id;

pub(crate) const SERVER_TIME: HeaderName = HeaderName::from_static("server-time");
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// Headers that each answer has besides its own: their map is made in one piece.
pub(crate) const USUAL: usize = 5;

/// What an answer's body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Problem,
    /// Whatever its own headers say.
    Other,
}

/// The headers of an answer that has none of its own: a copy of a map that was hashed once, with two values exchanged.
fn usual(hashed: &HeaderMap, id: &RequestId, now: EpochMs) -> HeaderMap {
    let mut headers = hashed.clone();
    for (name, value) in &mut headers {
        if *name == SERVER_TIME {
            *value = server_time(now);
        } else if *name == request_id::HEADER {
            *value = request_id::value(id);
        }
    }
    headers
}

/// The headers of an answer with these of its own. `others` are headers that axum set for the same answer, such as `Allow`.
pub(crate) fn dress(own: HeaderMap, others: HeaderMap, kind: Kind, id: &RequestId, now: EpochMs) -> HeaderMap {
    static OF_JSON: LazyLock<HeaderMap> = LazyLock::new(|| hashed(JSON));
    static OF_PROBLEM: LazyLock<HeaderMap> = LazyLock::new(|| hashed(PROBLEM));
    let bare = own.is_empty() && others.is_empty();
    match kind {
        Kind::Json if bare => return usual(&OF_JSON, id, now),
        Kind::Problem if bare => return usual(&OF_PROBLEM, id, now),
        _ => {}
    }
    let mut headers = own;
    headers.reserve(USUAL);
    if !others.is_empty() {
        headers.extend(others);
        // axum counted the empty body that stood for this one.
        headers.remove(CONTENT_LENGTH);
    }
    match kind {
        Kind::Json => describe(&mut headers, JSON),
        Kind::Problem => describe(&mut headers, PROBLEM),
        Kind::Other => {}
    }
    stamp(&mut headers, id, now);
    headers
}

fn describe(headers: &mut HeaderMap, content_type: HeaderValue) {
    headers.insert(CONTENT_TYPE, content_type);
    headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
}

fn hashed(content_type: HeaderValue) -> HeaderMap {
    let mut headers = HeaderMap::new();
    describe(&mut headers, content_type);
    stamp(&mut headers, &request_id::fresh(), EpochMs(0));
    headers
}

/// What stands on every answer, whoever made it.
pub(crate) fn stamp(headers: &mut HeaderMap, id: &RequestId, now: EpochMs) {
    headers.insert(SERVER_TIME, server_time(now));
    headers.insert(request_id::HEADER, request_id::value(id));
}

thread_local! {
    /// The time as it was last written by this thread: a core answers dozens of requests within a millisecond.
    static LAST_TIME: RefCell<(EpochMs, HeaderValue)> = const { RefCell::new((EpochMs(0), HeaderValue::from_static("0"))) };
}

fn server_time(now: EpochMs) -> HeaderValue {
    LAST_TIME.with_borrow_mut(|last| {
        if last.0 != now {
            *last = (now, HeaderValue::from(now.0));
        }
        last.1.clone()
    })
}
