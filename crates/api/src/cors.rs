//! Which web pages may call the API: those of the house, and those of origins that are listed, compared exactly. There is no wildcard.
//!
//! Reads of a foreign page are answered, but its browser keeps them from it. Its writes are refused: in gateway mode a cookie might
//! vouch for them.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HOST, VARY,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::answer::Answer;
use crate::error::Error;

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, idempotency-key, x-request-id, x-device-id, accept-language",
);
const EXPOSED: HeaderValue =
    HeaderValue::from_static("server-time, x-request-id, retry-after, etag, location, idempotency-replayed");
/// Browsers ask again after this many seconds: short enough for a change of the list.
const MAX_AGE_S: HeaderValue = HeaderValue::from_static("600");

/// Origins that may call.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    allowed: Vec<HeaderValue>,
    own: Option<HeaderValue>,
}

/// Where a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    /// No browser page, or one of this very server.
    Own,
    /// A page of a listed origin.
    Allowed(HeaderValue),
    /// Another page.
    Foreign,
}

impl Origins {
    pub(crate) fn new(allowed: &[String], public_url: Option<&str>) -> Self {
        Self {
            allowed: allowed.iter().filter_map(|origin| origin.parse().ok()).collect(),
            own: public_url.and_then(|url| url.trim_end_matches('/').parse().ok()),
        }
    }

    pub(crate) fn caller(&self, origin: Option<&HeaderValue>, headers: &HeaderMap) -> Caller {
        let Some(origin) = origin else {
            return Caller::Own;
        };
        if let Some(allowed) = self.allowed.iter().find(|allowed| *allowed == origin) {
            return Caller::Allowed(allowed.clone());
        }
        let by_browser = headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin");
        if by_browser || self.own.as_ref() == Some(origin) || is_host(origin, headers) {
            Caller::Own
        } else {
            Caller::Foreign
        }
    }

    /// Whether answers differ by `Origin`, so that caches must know.
    pub(crate) fn vary(&self) -> bool {
        !self.allowed.is_empty()
    }
}

/// Whether the origin names the very host that was asked.
fn is_host(origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let authority = origin
        .to_str()
        .ok()
        .and_then(|text| text.split_once("://"))
        .map(|(_, authority)| authority);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    matches!((authority, host), (Some(authority), Some(host)) if authority.eq_ignore_ascii_case(host))
}

/// The answer that the origin alone decides: to a preflight, and to a foreign page's write.
pub(crate) fn early(method: &Method, headers: &HeaderMap, caller: &Caller) -> Option<Result<Answer, Error>> {
    let preflight = *method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let safe = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    match caller {
        Caller::Foreign if preflight || !safe => Some(Err(Error::ForeignOrigin)),
        Caller::Allowed(_) if preflight => {
            let answer = Answer::ready(StatusCode::NO_CONTENT, bytes::Bytes::new())
                .header(ACCESS_CONTROL_ALLOW_METHODS, METHODS)
                .header(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS)
                .header(ACCESS_CONTROL_MAX_AGE, MAX_AGE_S);
            Some(Ok(answer))
        }
        _ => None,
    }
}

/// Lets the page of a listed origin read the answer.
pub(crate) fn open(headers: &mut HeaderMap, caller: Caller) {
    if let Caller::Allowed(origin) = caller {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        headers.append(VARY, HeaderValue::from_static("origin"));
    }
}

#[cfg(test)]
mod tests {
    use http::header::ORIGIN;

    use super::*;

    fn caller(origin: Option<&'static str>, more: &[(&'static str, &'static str)]) -> Caller {
        let allowed = ["https://shop.example.com".to_owned()];
        let origins = Origins::new(&allowed, Some("https://sale.example.com/"));
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("127.0.0.1:8080"));
        for (name, value) in more {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
        }
        origins.caller(headers.get(ORIGIN), &headers)
    }

    #[test]
    fn origins_are_compared_exactly() {
        assert!(matches!(
            caller(Some("https://shop.example.com"), &[]),
            Caller::Allowed(_)
        ));
        for foreign in [
            "null",
            "https://evil.example.com",
            "http://shop.example.com",
            "https://shop.example.com.evil.com",
            "https://a.shop.example.com",
            "https://shop.example.com:444",
        ] {
            assert_eq!(caller(Some(foreign), &[]), Caller::Foreign, "{foreign}");
        }
    }

    #[test]
    fn the_house_s_own_pages_are_not_foreign() {
        assert_eq!(caller(None, &[]), Caller::Own);
        assert_eq!(caller(Some("http://127.0.0.1:8080"), &[]), Caller::Own);
        assert_eq!(caller(Some("https://sale.example.com"), &[]), Caller::Own);
        assert_eq!(
            caller(Some("https://other.example.com"), &[("sec-fetch-site", "same-origin")]),
            Caller::Own
        );
        assert_eq!(
            caller(Some("https://other.example.com"), &[("sec-fetch-site", "cross-site")]),
            Caller::Foreign
        );
    }
}
