//! The headers of answers: an answer's own, and what stands on every one.

use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderValue};
use seckill_sale::{EpochMs, RequestId};

use crate::repeated::server_time;
use crate::request_id;
use crate::usual::usual;

pub(crate) const SERVER_TIME: HeaderName = HeaderName::from_static("server-time");
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// Headers that each answer has besides its own: their map is made in one piece.
const USUAL: usize = 6;

/// What an answer's body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Problem,
    /// Whatever its own headers say.
    Other,
}

/// What hot answers have besides what stands on every one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extra {
    /// Where the result is.
    pub(crate) location: Option<HeaderValue>,
    /// When asking again makes sense.
    pub(crate) retry_after: Option<HeaderValue>,
}

/// The headers of an answer. `own` are those that its handler set, `others` those that axum set for the same answer, such as `Allow`.
pub(crate) fn dress(
    own: HeaderMap,
    others: HeaderMap,
    kind: Kind,
    extra: Extra,
    id: &RequestId,
    now: EpochMs,
) -> HeaderMap {
    let usual = if own.is_empty() && others.is_empty() {
        usual(kind, &extra)
    } else {
        None
    };
    let Some(usual) = usual else {
        return sewn(own, others, kind, extra, id, now);
    };
    let mut headers = usual.clone();
    exchange(&mut headers, extra, id, now);
    headers
}

/// The headers of a page that is shown again and again, from those that it had at first.
pub(crate) fn dress_again(
    first: &HeaderMap,
    own: HeaderMap,
    others: HeaderMap,
    id: &RequestId,
    now: EpochMs,
) -> HeaderMap {
    let mut headers = first.clone();
    exchange(&mut headers, Extra::default(), id, now);
    headers.extend(own);
    if !others.is_empty() {
        headers.extend(others);
        headers.remove(CONTENT_LENGTH);
    }
    headers
}

/// Puts the values of this answer in the place of another one's.
fn exchange(headers: &mut HeaderMap, extra: Extra, id: &RequestId, now: EpochMs) {
    let Extra {
        mut location,
        mut retry_after,
    } = extra;
    for (name, value) in headers {
        let new = if *name == SERVER_TIME {
            Some(server_time(now))
        } else if *name == request_id::HEADER {
            Some(request_id::value(id))
        } else if *name == LOCATION {
            location.take()
        } else if *name == RETRY_AFTER {
            retry_after.take()
        } else {
            None
        };
        if let Some(new) = new {
            *value = new;
        }
    }
}

/// The headers of an answer, one by one.
pub(crate) fn sewn(
    own: HeaderMap,
    others: HeaderMap,
    kind: Kind,
    extra: Extra,
    id: &RequestId,
    now: EpochMs,
) -> HeaderMap {
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
    let Extra { location, retry_after } = extra;
    for (name, value) in [(LOCATION, location), (RETRY_AFTER, retry_after)] {
        if let Some(value) = value {
            headers.insert(name, value);
        }
    }
    stamp(&mut headers, id, now);
    headers
}

fn describe(headers: &mut HeaderMap, content_type: HeaderValue) {
    headers.insert(CONTENT_TYPE, content_type);
    headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
}

/// What stands on every answer, whoever made it.
pub(crate) fn stamp(headers: &mut HeaderMap, id: &RequestId, now: EpochMs) {
    headers.insert(SERVER_TIME, server_time(now));
    headers.insert(request_id::HEADER, request_id::value(id));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_headers_are_those_that_are_set_one_by_one() {
        let id = RequestId::new("r-1").expect("valid");
        let value = |text| Some(HeaderValue::from_static(text));
        for kind in [Kind::Json, Kind::Problem, Kind::Other] {
            for (location, retry_after) in [
                (None, None),
                (value("/x"), None),
                (None, value("3")),
                (value("/x"), value("3")),
            ] {
                let extra = Extra { location, retry_after };
                let none = HeaderMap::new;
                let one_by_one = sewn(none(), none(), kind, extra.clone(), &id, EpochMs(7));
                assert_eq!(dress(none(), none(), kind, extra, &id, EpochMs(7)), one_by_one);
                assert_eq!(one_by_one[SERVER_TIME], "7");
            }
        }
    }

    #[test]
    fn own_headers_of_an_answer_stay() {
        let id = RequestId::new("r-1").expect("valid");
        let mut own = HeaderMap::new();
        own.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=1"));
        let headers = dress(own, HeaderMap::new(), Kind::Json, Extra::default(), &id, EpochMs(7));
        assert_eq!(headers[CACHE_CONTROL], "max-age=1");
        assert_eq!(headers[request_id::HEADER], "r-1");
    }
}
