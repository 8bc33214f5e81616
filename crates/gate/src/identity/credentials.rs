//! Where the identity stands in a request: a bearer token, or in gateway mode a header that a trusted proxy wrote.
//! Nothing is read from the URL, from cookies or from the body.

use http::HeaderMap;
use http::header::HeaderName;
use seckill_sale::{Refusal, UserId};

use crate::headers::{Headers, Sent};

/// Header that names the user in gateway mode.
pub const USER_HEADER: HeaderName = HeaderName::from_static("x-user-id");

/// The token of `Authorization: Bearer …` among these headers, as bytes of whatever kind.
///
/// # Errors
/// [`Refusal::Unauthenticated`] where the header is missing, of another scheme, or empty; [`Refusal::Malformed`] where it was sent twice.
pub fn bearer_of(headers: &HeaderMap) -> Result<&[u8], Refusal> {
    bearer(Headers::of(headers).authorization)
}

/// The token of an `Authorization: Bearer …`.
///
/// # Errors
/// [`Refusal::Unauthenticated`] where the header is missing, of another scheme, or empty; [`Refusal::Malformed`] where it was sent twice: a
/// proxy in front may have looked at the other one.
pub(crate) fn bearer(authorization: Sent<'_>) -> Result<&[u8], Refusal> {
    const SCHEME: &[u8] = b"bearer ";
    let value = match authorization {
        Sent::Once(value) => value,
        Sent::Never => return Err(Refusal::Unauthenticated),
        Sent::Often => {
            return Err(Refusal::Malformed {
                detail: "Authorization must be sent once".to_owned(),
            });
        }
    };
    let (scheme, mut token) = value
        .as_bytes()
        .split_at_checked(SCHEME.len())
        .ok_or(Refusal::Unauthenticated)?;
    while let [b' ', rest @ ..] | [rest @ .., b' '] = token {
        token = rest;
    }
    let fine = scheme.eq_ignore_ascii_case(SCHEME) && !token.is_empty();
    if fine { Ok(token) } else { Err(Refusal::Unauthenticated) }
}

/// The user that a trusted proxy names. The caller has made sure that the peer is one.
///
/// # Errors
/// [`Refusal::Unauthenticated`] where the header is missing, sent twice, or no user id.
pub(crate) fn named_user(user: Sent<'_>) -> Result<UserId, Refusal> {
    let text = user
        .once()
        .and_then(|value| value.to_str().ok())
        .ok_or(Refusal::Unauthenticated)?;
    UserId::new(text).map_err(|_| Refusal::Unauthenticated)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(name: &'static str, values: &[&'static str]) -> HeaderMap {
        values
            .iter()
            .map(|value| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    fn token_of(values: &[&'static str]) -> Result<String, Refusal> {
        let headers = headers("authorization", values);
        bearer_of(&headers).map(|token| String::from_utf8_lossy(token).into_owned())
    }

    fn user_of(values: &[&'static str]) -> Result<UserId, Refusal> {
        let headers = headers("x-user-id", values);
        named_user(Headers::of(&headers).user)
    }

    #[test]
    fn scheme_is_read_in_any_case() {
        for value in ["Bearer abc", "bearer abc", "BEARER  abc ", "bEaReR abc"] {
            assert_eq!(token_of(&[value]), Ok("abc".to_owned()), "{value:?}");
        }
    }

    #[test]
    fn anything_but_one_bearer_token_is_no_identity() {
        for values in [&[][..], &[""], &["Bearer"], &["Bearer "], &["Basic abc"], &["abc"]] {
            assert_eq!(token_of(values), Err(Refusal::Unauthenticated), "{values:?}");
        }
    }

    #[test]
    fn two_tokens_are_malformed_though_they_agree() {
        let refusal = token_of(&["Bearer a", "Bearer a"]).expect_err("which one counts?");
        assert!(matches!(refusal, Refusal::Malformed { .. }), "{refusal:?}");
    }

    #[test]
    fn gateway_names_one_well_formed_user() {
        assert!(user_of(&["u-1"]).is_ok());
        for values in [&[][..], &[""], &["a b"], &["a", "a"]] {
            assert_eq!(user_of(values), Err(Refusal::Unauthenticated), "{values:?}");
        }
    }
}
