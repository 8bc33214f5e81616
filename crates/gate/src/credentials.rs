//! Where the identity stands in a request: a bearer token, or in gateway mode a header that a trusted proxy wrote.
//! Nothing is read from the URL, from cookies or from the body.

use http::header::{AUTHORIZATION, HeaderName};
use http::{HeaderMap, HeaderValue};
use seckill_sale::{Refusal, UserId};

/// Header that names the user in gateway mode.
pub const USER_HEADER: HeaderName = HeaderName::from_static("x-user-id");

/// The token of `Authorization: Bearer …`.
///
/// # Errors
/// [`Refusal::Unauthenticated`] where the header is missing, sent twice, of another scheme, or empty.
pub fn bearer(headers: &HeaderMap) -> Result<&str, Refusal> {
    const SCHEME: &[u8] = b"bearer ";
    let value = only(headers, &AUTHORIZATION).ok_or(Refusal::Unauthenticated)?;
    let (scheme, token) = value
        .as_bytes()
        .split_at_checked(SCHEME.len())
        .ok_or(Refusal::Unauthenticated)?;
    let token = std::str::from_utf8(token).map_or("", |token| token.trim_matches(' '));
    let fine = scheme.eq_ignore_ascii_case(SCHEME) && !token.is_empty();
    if fine { Ok(token) } else { Err(Refusal::Unauthenticated) }
}

/// The user that a trusted proxy names. The caller has made sure that the peer is one.
///
/// # Errors
/// [`Refusal::Unauthenticated`] where the header is missing, sent twice, or no user id.
pub fn named_user(headers: &HeaderMap) -> Result<UserId, Refusal> {
    let text = only(headers, &USER_HEADER)
        .and_then(|value| value.to_str().ok())
        .ok_or(Refusal::Unauthenticated)?;
    UserId::new(text).map_err(|_| Refusal::Unauthenticated)
}

/// The value of a header that stands there exactly once.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&'static str]) -> HeaderMap {
        values
            .iter()
            .map(|value| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn scheme_is_read_in_any_case() {
        for value in ["Bearer abc", "bearer abc", "BEARER  abc ", "bEaReR abc"] {
            assert_eq!(bearer(&headers("authorization", &[value])), Ok("abc"), "{value:?}");
        }
    }

    #[test]
    fn anything_but_one_bearer_token_is_no_identity() {
        for values in [
            &[][..],
            &[""],
            &["Bearer"],
            &["Bearer "],
            &["Basic abc"],
            &["abc"],
            &["Bearer a", "Bearer a"],
        ] {
            assert_eq!(
                bearer(&headers("authorization", values)),
                Err(Refusal::Unauthenticated),
                "{values:?}"
            );
        }
    }

    #[test]
    fn gateway_names_one_well_formed_user() {
        assert!(named_user(&headers("x-user-id", &["u-1"])).is_ok());
        for values in [&[][..], &[""], &["a b"], &["a", "a"]] {
            assert_eq!(
                named_user(&headers("x-user-id", values)),
                Err(Refusal::Unauthenticated),
                "{values:?}"
            );
        }
    }
}
