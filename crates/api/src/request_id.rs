//! The name of a request in every log line about it: the client's own where it is well formed, else a fresh one.

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};
use seckill_sale::RequestId;

pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Takes over `X-Request-Id`, or makes an id. An ill-formed one is never echoed.
pub fn of(headers: &HeaderMap) -> RequestId {
    told(headers.get(HEADER)).unwrap_or_else(fresh)
}

/// The client's own `X-Request-Id`, where it is well formed.
pub(crate) fn told(header: Option<&HeaderValue>) -> Option<RequestId> {
    RequestId::new(header?.to_str().ok()?).ok()
}

/// An id of its own: 16 hexadecimal digits.
pub(crate) fn fresh() -> RequestId {
    RequestId::from_bits(rand::random())
}

/// The id as a header.
pub(crate) fn value(id: &RequestId) -> HeaderValue {
    HeaderValue::from_str(id.as_str()).expect("a request id is made of visible ASCII")
}
