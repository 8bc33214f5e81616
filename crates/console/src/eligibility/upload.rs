//! Reads a list of users as it was sent: a text with one id a line, or a Bloom filter in JSON. A text is read as it comes: what is kept of a
//! line is 8 bytes.

use axum::body::Body;
use axum::extract::Request;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use seckill_gate::{BLOOM_BITS_MAX, BLOOM_HASHES_MAX, ELIGIBLE_USERS_MAX, EligibleUsers};
use seckill_ledger::{Context, EligibleForm, EligibleList};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::lines::Lines;
use crate::call::Call;
use crate::error::Error;
use crate::input;
use crate::write::{ACTOR, idempotency};

/// Largest text: as many users as a list may have, each with the longest id and an end of two bytes.
const TEXT_BYTES_MAX: usize = ELIGIBLE_USERS_MAX * 66;
/// Largest Bloom filter in base64, with the members around it.
const JSON_BYTES_MAX: usize = (BLOOM_BITS_MAX / 8) as usize / 3 * 4 + 4096;

/// One user id a line.
const TEXT: &str = "text/plain";
/// A Bloom filter.
const JSON: &str = "application/json";

/// A list and who sends it.
pub(super) struct Upload {
    pub(super) listed: Listed,
    pub(super) context: Context,
}

/// A list in its two forms.
pub(super) struct Listed {
    /// As the ledger keeps it.
    pub(super) kept: EligibleList,
    /// As the gate looks it up; the ledger gives its version.
    pub(super) looked_up: EligibleUsers,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    bloom: Bloom,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bloom {
    /// Its bytes in base64.
    bytes: String,
    bits: u64,
    hashes: u32,
}

/// Reads the whole list.
pub(super) async fn read(call: &Call, request: Request) -> Result<Upload, Error> {
    let (head, body) = request.into_parts();
    if head.headers.contains_key(CONTENT_ENCODING) {
        return Err(Error::MediaType("a body must not be compressed"));
    }
    let (listed, digest) = match media_type(&head.headers) {
        Some(TEXT) => text(call, body).await?,
        Some(JSON) => json(call, body).await?,
        _ => return Err(Error::MediaType("the body must be text/plain or application/json")),
    };
    let context = Context {
        actor: ACTOR.to_owned(),
        now: call.now,
        idempotency: idempotency(&head, &digest, &call.replayed)?,
    };
    Ok(Upload { listed, context })
}

fn media_type(headers: &HeaderMap) -> Option<&'static str> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let essence = types.next()?.to_str().ok()?.split(';').next()?.trim();
    let found = [TEXT, JSON]
        .into_iter()
        .find(|known| essence.eq_ignore_ascii_case(known));
    found.filter(|_| types.next().is_none())
}

/// The media type that a list has to be sent with, if it can be taken.
pub(crate) fn check(list: &[u8]) -> Result<&'static str, Error> {
    // No user id has a brace.
    if list.trim_ascii_start().starts_with(b"{") {
        return bloom(list).map(|_| JSON);
    }
    let mut lines = Lines::new(rand::random());
    lines.push(list)?;
    lines.into_list().map(|_| TEXT)
}

fn broken(call: &Call, error: &(dyn std::error::Error + Send + Sync + 'static)) -> Error {
    if error.is::<LengthLimitError>() {
        Error::TooLarge
    } else if (call.console.is_body_timeout)(error) {
        Error::Timeout
    } else {
        Error::Malformed("the body broke off".into())
    }
}

async fn text(call: &Call, body: Body) -> Result<(Listed, [u8; 32]), Error> {
    let mut body = Limited::new(body, TEXT_BYTES_MAX);
    let (mut lines, mut digest) = (Lines::new(rand::random()), Sha256::new());
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken(call, &*error))?;
        let Ok(data) = frame.into_data() else { continue };
        digest.update(&data);
        lines.push(&data)?;
    }
    // A million users are sorted where nobody waits for it.
    let listed = tokio::task::spawn_blocking(|| lines.into_list()).await;
    let listed = listed.unwrap_or_else(|_panic| Err(Error::internal()))?;
    Ok((listed, digest.finalize().into()))
}

async fn json(call: &Call, body: Body) -> Result<(Listed, [u8; 32]), Error> {
    let bytes: Bytes = match Limited::new(body, JSON_BYTES_MAX).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) => return Err(broken(call, &*error)),
    };
    Ok((bloom(&bytes)?, Sha256::digest(&bytes).into()))
}

fn bloom(json: &[u8]) -> Result<Listed, Error> {
    let Wanted { bloom } = input::object(json)?;
    let form = EligibleForm::Bloom {
        bits: bloom.bits,
        hashes: bloom.hashes,
    };
    let bits = STANDARD
        .decode(&bloom.bytes)
        .map_err(|_| Error::invalid("bloom.bytes", "must be base64"))?;
    let Some(looked_up) = EligibleUsers::bloom(0, bits.clone(), bloom.bits, bloom.hashes) else {
        return Err(Error::invalid(
            "bloom",
            format!(
                "must have 1 to {BLOOM_BITS_MAX} bits, as many bytes as they need and no more, and 1 to {BLOOM_HASHES_MAX} hashes"
            ),
        ));
    };
    let kept = EligibleList { form, bytes: bits };
    Ok(Listed { kept, looked_up })
}
