//! A page that was rendered a moment ago, and whether a client holds it already.

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use seckill_sale::EpochMs;

use crate::answer::Answer;
use crate::dress::{Extra, Kind, dress};
use crate::request_id;

const PUBLIC: HeaderValue = HeaderValue::from_static("public, max-age=1");

/// How old the shown number of units may be, in milliseconds; a fifth of what is promised.
pub(crate) const LAG_MS_MAX: i64 = 200;

/// Members of `data` behind the server's time.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    rendered_at: EpochMs,
    members: Arc<[u8]>,
    etag: HeaderValue,
    /// All headers of an answer with this page; a later one has its own time and request id.
    pub(crate) headers: Arc<HeaderMap>,
}

impl Page {
    pub(crate) fn new(members: &[u8], rendered_at: EpochMs, vary: HeaderValue) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(members);
        let etag = format!("W/\"{:016x}\"", hasher.finish());
        let etag = HeaderValue::try_from(etag).expect("hexadecimal digits in quotes are a header");
        let own = HeaderMap::from_iter([(ETAG, etag.clone()), (CACHE_CONTROL, PUBLIC), (VARY, vary)]);
        let headers = dress(
            own,
            HeaderMap::new(),
            Kind::Json,
            Extra::default(),
            &request_id::fresh(),
            rendered_at,
        );
        Self {
            rendered_at,
            members: members.into(),
            etag,
            headers: Arc::new(headers),
        }
    }

    /// The JSON of `data`, with the digits of the present time.
    pub(crate) fn data<'a>(&'a self, server_time: &'a [u8]) -> [&'a [u8]; 4] {
        [b"{\"server_time\":", server_time, b",", &self.members]
    }

    /// The answer to somebody who asks at `now` with these headers.
    pub(crate) fn answer(self, headers: &HeaderMap, now: EpochMs) -> Answer {
        if !self.is_held(headers) {
            return Answer::page(self, now);
        }
        let answer = Answer::ready(StatusCode::NOT_MODIFIED, Bytes::new());
        [ETAG, CACHE_CONTROL, VARY].into_iter().fold(answer, |answer, name| {
            let value = self.headers[&name].clone();
            answer.header(name, value)
        })
    }

    /// Whether the client holds this very page.
    fn is_held(&self, headers: &HeaderMap) -> bool {
        is_known(headers, &self.etag)
    }

    /// Whether it may be shown as it is. Also false where the clock went back.
    pub(crate) fn is_fresh(&self, now: EpochMs) -> bool {
        (0..LAG_MS_MAX).contains(&now.since(self.rendered_at))
    }
}

/// Whether the client holds this very page. Compared weakly: `W/` makes no difference.
fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let opaque = |tag: &[u8]| tag.strip_prefix(b"W/").unwrap_or(tag).to_vec();
    let etag = || opaque(etag.as_bytes());
    let mut lines = headers.get_all(IF_NONE_MATCH).iter();
    lines.any(|line| {
        let tags = line.as_bytes().split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        tags.into_iter().any(|tag| tag == b"*" || opaque(tag) == etag())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_tags_are_compared_weakly_and_in_lists() {
        let etag = HeaderValue::from_static("W/\"a\"");
        for (sent, expect) in [
            ("W/\"a\"", true),
            ("\"a\"", true),
            ("\"b\", \"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("a", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static(sent));
            assert_eq!(is_known(&headers, &etag), expect, "{sent}");
        }
        assert!(!is_known(&HeaderMap::new(), &etag));
    }
}
