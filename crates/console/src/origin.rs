//! Whether a page of another origin asks. It may not write, even with a token, because it should never have one.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderValue};

/// Whether a page of another origin asks. Programs send no `Origin`.
pub(crate) fn is_foreign(headers: &HeaderMap, public_url: Option<&str>) -> bool {
    let cross_site = |site: &HeaderValue| site == "cross-site" || site == "same-site";
    if headers.get("sec-fetch-site").is_some_and(cross_site) {
        return true;
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    headers.get_all(ORIGIN).iter().any(|origin| {
        let Ok(origin) = origin.to_str() else { return true };
        let own = public_url.is_some_and(|url| url.trim_end_matches('/') == origin);
        let authority = origin.split_once("://").map(|(_, authority)| authority);
        !own && (authority.is_none() || authority != host)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_very_same_origin_may_write() {
        let foreign = |origin: Option<&'static str>, site: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("127.0.0.1:8081"));
            origin.map(|origin| headers.insert(ORIGIN, HeaderValue::from_static(origin)));
            site.map(|site| headers.insert("sec-fetch-site", HeaderValue::from_static(site)));
            is_foreign(&headers, Some("https://console.example.com/"))
        };
        assert!(!foreign(None, None));
        assert!(!foreign(Some("http://127.0.0.1:8081"), Some("same-origin")));
        assert!(!foreign(Some("https://console.example.com"), None));
        for origin in [
            "null",
            "",
            "http://127.0.0.1",
            "http://127.0.0.1:8080",
            "https://console.example.com.evil.com",
        ] {
            assert!(foreign(Some(origin), None), "{origin}");
        }
        assert!(foreign(None, Some("cross-site")));
    }
}
