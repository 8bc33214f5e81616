//! The answers that the listener gives before there is a request to speak of, in the form of all others.

use bytes::Bytes;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use seckill_sale::{Code, EpochMs, Language};

use crate::dress::{NO_STORE, PROBLEM, stamp};
use crate::request_id;
use crate::wording::{Said, problem};

/// The answer with this status.
pub(crate) fn of_listener(status: StatusCode, now: EpochMs) -> http::Response<Bytes> {
    let code = match status {
        StatusCode::REQUEST_TIMEOUT => Code::RequestTimeout,
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Code::HeadersTooLarge,
        _ => Code::Malformed,
    };
    let id = request_id::fresh();
    let said = Said {
        code,
        status,
        message: None,
        detail: None,
    };
    let body = problem(&said, Language::Chinese, &[], &id);
    let mut response = http::Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, PROBLEM);
    response.headers_mut().insert(CACHE_CONTROL, NO_STORE);
    stamp(response.headers_mut(), &id, now);
    response
}
