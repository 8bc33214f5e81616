//! A request that changes something: its body, read strictly once, and who asks under which idempotency key.
//!
//! Bodies are one JSON object without unknown or doubled members; no body stands for an empty object. Never read by way of a generic JSON
//! value, in which the last of two equal members wins.

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderName};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use seckill_ledger::{Context, Idempotency, Replayed};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::call::Call;
use crate::error::Error;
use crate::input;
use crate::state::Console;

/// Largest body, in bytes: the longest texts of an activity in escapes, with room.
pub(crate) const BODY_BYTES_MAX: usize = 64 * 1024;
/// Longest idempotency key, in characters.
const KEY_LENGTH_MAX: usize = 64;
const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Who writes, in audit rows.
pub(crate) const ACTOR: &str = "admin";

/// A body that says nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// A write of the operator.
pub(crate) struct Write<T> {
    pub(crate) call: Call,
    pub(crate) body: T,
    /// Who, when, and the idempotency key.
    pub(crate) context: Context,
}

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for Write<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let (mut head, body) = request.into_parts();
        let call = Call::from_request_parts(&mut head, state).await?;
        let bytes = read(&call.console, &head.headers, body).await?;
        let idempotency = idempotency(&head, &bytes, &call.replayed)?;
        let body = if bytes.is_empty() {
            input::object(b"{}")?
        } else {
            check_media_type(&head.headers)?;
            input::object(&bytes)?
        };
        let context = Context {
            actor: ACTOR.to_owned(),
            now: call.now,
            idempotency,
        };
        Ok(Self { call, body, context })
    }
}

async fn read(console: &Console, headers: &HeaderMap, body: Body) -> Result<Bytes, Error> {
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(Error::MediaType("a body must not be compressed"));
    }
    match Limited::new(body, BODY_BYTES_MAX).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Error::TooLarge),
        Err(error) if (console.is_body_timeout)(&*error) => Err(Error::Timeout),
        Err(_broken) => Err(Error::Malformed("the body broke off".into())),
    }
}

fn check_media_type(headers: &HeaderMap) -> Result<(), Error> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let first = types.next().and_then(|value| value.to_str().ok());
    let essence = first.and_then(|text| text.split(';').next()).map(str::trim);
    let fine = essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    if fine && types.next().is_none() {
        Ok(())
    } else {
        Err(Error::MediaType("the body must be application/json"))
    }
}

/// The key of the request, with the digest that tells it from another one under the same key.
pub(crate) fn idempotency(head: &Parts, body: &[u8], replayed: &Replayed) -> Result<Option<Idempotency>, Error> {
    let mut keys = head.headers.get_all(KEY).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| {
        let visible = key.bytes().all(|byte| byte.is_ascii_graphic());
        visible && (1..=KEY_LENGTH_MAX).contains(&key.len())
    });
    let (Some(key), None) = (key, keys.next()) else {
        return Err(Error::invalid(
            "Idempotency-Key",
            "must be sent once, with 1 to 64 visible ASCII characters",
        ));
    };
    let mut hash = Sha256::new();
    for part in [
        head.method.as_str().as_bytes(),
        b" ",
        head.uri.path().as_bytes(),
        b"\n",
        body,
    ] {
        hash.update(part);
    }
    let whole: [u8; 32] = hash.finalize().into();
    let mut digest = [0; 16];
    digest.copy_from_slice(&whole[..16]);
    Ok(Some(Idempotency {
        key: key.to_owned(),
        digest,
        replayed: replayed.clone(),
    }))
}
