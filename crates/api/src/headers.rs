//! The headers that every request is looked at for, found in one pass: a look-up by name hashes it, and of most requests each finds
//! nothing. Those that make an identity are the gate's: it has a pass of its own.

use http::{HeaderMap, HeaderValue};
use seckill_gate::CLIENT_HEADER;

/// What every request is asked for. Of a header that was sent twice the first one counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Headers<'a> {
    pub(crate) request_id: Option<&'a HeaderValue>,
    pub(crate) language: Option<&'a HeaderValue>,
    pub(crate) origin: Option<&'a HeaderValue>,
    /// Whether there is an `Idempotency-Key`.
    pub(crate) has_key: bool,
    /// Whether a client says that it signed the request.
    pub(crate) has_client: bool,
}

impl<'a> Headers<'a> {
    pub(crate) fn of(all: &'a HeaderMap) -> Self {
        let mut headers = Self::default();
        for (name, value) in all {
            let header = match name.as_str() {
                "x-request-id" => &mut headers.request_id,
                "accept-language" => &mut headers.language,
                "origin" => &mut headers.origin,
                "idempotency-key" => {
                    headers.has_key = true;
                    continue;
                }
                CLIENT_HEADER => {
                    headers.has_client = true;
                    continue;
                }
                _ => continue,
            };
            header.get_or_insert(value);
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_of_two_equal_headers_counts() {
        let mut all = HeaderMap::new();
        all.append("accept", HeaderValue::from_static("x"));
        all.append("x-request-id", HeaderValue::from_static("first"));
        all.append("x-request-id", HeaderValue::from_static("second"));
        let headers = Headers::of(&all);
        assert_eq!(headers.request_id, Some(&HeaderValue::from_static("first")));
        assert!(headers.language.is_none() && headers.origin.is_none() && !headers.has_key);
        all.append("idempotency-key", HeaderValue::from_static("k"));
        all.append("origin", HeaderValue::from_static("o"));
        all.append("accept-language", HeaderValue::from_static("l"));
        let headers = Headers::of(&all);
        assert_eq!(headers.origin, Some(&HeaderValue::from_static("o")));
        assert_eq!(headers.language, Some(&HeaderValue::from_static("l")));
        assert!(headers.has_key && !headers.has_client);
        all.append(CLIENT_HEADER, HeaderValue::from_static("c"));
        assert!(Headers::of(&all).has_client);
    }
}
