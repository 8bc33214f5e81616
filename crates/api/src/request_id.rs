//! The name of a request in every log line about it: the client's own where it is well formed, else a fresh one.

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};
use seckill_sale::RequestId;

pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Takes over `X-Request-Id`, or makes an id. An ill-formed one is never echoed.
pub fn of(headers: &HeaderMap) -> RequestId {
    headers
        .get(HEADER)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| RequestId::new(text).ok())
        .unwrap_or_else(fresh)
}

/// An id of its own: 16 hexadecimal digits.
pub(crate) fn fresh() -> RequestId {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let bits: u64 = rand::random();
    let mut text = [0; 16];
    for (place, digit) in text.iter_mut().enumerate() {
        *digit = DIGITS[(bits >> (60 - 4 * place)) as usize & 15];
    }
    let text = std::str::from_utf8(&text).expect("hexadecimal digits are ASCII");
    RequestId::new(text).expect("hexadecimal digits are well formed")
}

/// The id as a header.
pub(crate) fn value(id: &RequestId) -> HeaderValue {
    HeaderValue::from_str(id.as_str()).expect("a request id is made of visible ASCII")
}
