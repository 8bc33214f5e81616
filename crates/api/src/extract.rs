//! Reads bodies strictly: JSON by its header and by its bytes, one object, no unknown and no doubled member, within a limit.
//!
//! Never by way of a generic JSON value, in which the last of two equal members wins.

use std::error::Error as StdError;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http_body::Body;
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::error::Error;
use crate::misread::read_object;

/// A request body that can be read on any core.
pub(crate) trait Incoming: Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + Unpin {}

impl<B: Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + Unpin> Incoming for B {}

/// The members of a body, or their defaults where there is no body.
///
/// # Errors
/// [`Error::MediaType`], [`Error::TooLarge`], [`Error::Timeout`], [`Error::Malformed`].
pub(crate) async fn optional_json<T: DeserializeOwned + Default>(
    call: &Call,
    headers: &HeaderMap,
    body: impl Incoming,
) -> Result<T, Error> {
    let bytes = read(call, headers, body, call.shared().settings.body_bytes_max).await?;
    if bytes.is_empty() {
        return Ok(T::default());
    }
    object(headers, &bytes)
}

/// The members of a body.
///
/// # Errors
/// As [`optional_json`], and [`Error::Malformed`] where there is no body.
pub(crate) async fn json<T: DeserializeOwned>(
    call: &Call,
    headers: &HeaderMap,
    body: impl Incoming,
) -> Result<T, Error> {
    let bytes = read(call, headers, body, call.shared().settings.body_bytes_max).await?;
    object(headers, &bytes)
}

/// All bytes of a body.
///
/// # Errors
/// [`Error::MediaType`] where it is compressed, [`Error::TooLarge`], [`Error::Timeout`], [`Error::Malformed`] where it breaks off.
pub(crate) async fn read(
    call: &Call,
    headers: &HeaderMap,
    mut body: impl Incoming,
    bytes_max: usize,
) -> Result<Bytes, Error> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(Error::MediaType("a body must not be compressed"));
    }
    if announced(headers).is_some_and(|length| bytes_max < length) {
        return Err(Error::TooLarge);
    }
    let mut whole: Option<Bytes> = None;
    let mut parts = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken(call, error.into().as_ref()))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes_max < data.len() + parts.len() + whole.as_ref().map_or(0, Bytes::len) {
            return Err(Error::TooLarge);
        }
        // Nearly all bodies come in one piece, which is then not copied.
        match whole.take() {
            None if parts.is_empty() => whole = Some(data),
            first => {
                first.iter().for_each(|first| parts.extend_from_slice(first));
                parts.extend_from_slice(&data);
            }
        }
    }
    Ok(whole.unwrap_or_else(|| parts.freeze()))
}

fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn broken(call: &Call, error: &(dyn StdError + 'static)) -> Error {
    if (call.shared().is_body_timeout)(error) {
        Error::Timeout
    } else {
        Error::Malformed("the body broke off".into())
    }
}

/// One JSON object.
///
/// # Errors
/// [`Error::MediaType`], [`Error::Malformed`].
pub(crate) fn object<T: DeserializeOwned>(headers: &HeaderMap, bytes: &[u8]) -> Result<T, Error> {
    if !is_json(headers) {
        return Err(Error::MediaType("the body must be application/json"));
    }
    read_object(bytes).map_err(Error::from)
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let Some(Ok(text)) = types.next().map(|value| value.to_str()) else {
        return false;
    };
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or("");
    types.next().is_none() && essence.eq_ignore_ascii_case("application/json") && parts.all(is_utf8_or_no_charset)
}

/// JSON is UTF-8 (RFC 8259 8.1): a body that says to be anything else is not read as if it were.
fn is_utf8_or_no_charset(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    !name.trim().eq_ignore_ascii_case("charset") || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
}
