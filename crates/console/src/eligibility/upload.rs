//! Reads a list of users as it was sent: a text with one id a line, or a Bloom filter in JSON. A text is read as it comes: what is kept of a
//! line is 8 bytes.

use std::hash::{BuildHasher, RandomState};

use axum::body::Body;
use axum::extract::Request;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use seckill_gate::{BLOOM_BITS_MAX, BLOOM_HASHES_MAX, ELIGIBLE_USERS_MAX, EligibleUsers, fingerprint};
use seckill_ledger::{Context, EligibleForm, EligibleList};
use seckill_sale::UserId;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::call::Call;
use crate::error::Error;
use crate::input;
use crate::write::{ACTOR, idempotency};

/// Bytes of a line: the longest user id and its end, with room for what is wrong with it.
const LINE_BYTES_MAX: usize = 256;
/// Largest text: as many users as a list may have, each with the longest id and an end of two bytes.
const TEXT_BYTES_MAX: usize = ELIGIBLE_USERS_MAX * 66;
/// Largest Bloom filter in base64, with the members around it.
const JSON_BYTES_MAX: usize = (BLOOM_BITS_MAX / 8) as usize / 3 * 4 + 4096;

/// A list and who sends it.
pub(super) struct Upload {
    pub(super) list: EligibleList,
    pub(super) context: Context,
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
    let (list, digest) = match media_type(&head.headers) {
        Some("text/plain") => text(call, body).await?,
        Some("application/json") => json(call, body).await?,
        _ => return Err(Error::MediaType("the body must be text/plain or application/json")),
    };
    let context = Context {
        actor: ACTOR.to_owned(),
        now: call.now,
        idempotency: idempotency(&head, &digest, &call.replayed)?,
    };
    Ok(Upload { list, context })
}

fn media_type(headers: &HeaderMap) -> Option<&'static str> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let essence = types.next()?.to_str().ok()?.split(';').next()?.trim();
    let known = ["text/plain", "application/json"];
    let found = known.into_iter().find(|known| essence.eq_ignore_ascii_case(known));
    found.filter(|_| types.next().is_none())
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

async fn text(call: &Call, body: Body) -> Result<(EligibleList, [u8; 32]), Error> {
    let mut body = Limited::new(body, TEXT_BYTES_MAX);
    let (mut lines, mut digest) = (Lines::new(salt()), Sha256::new());
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken(call, &*error))?;
        let Ok(data) = frame.into_data() else { continue };
        digest.update(&data);
        lines.push(&data)?;
    }
    Ok((lines.into_list()?, digest.finalize().into()))
}

async fn json(call: &Call, body: Body) -> Result<(EligibleList, [u8; 32]), Error> {
    let bytes: Bytes = match Limited::new(body, JSON_BYTES_MAX).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) => return Err(broken(call, &*error)),
    };
    let Wanted { bloom } = input::object(&bytes)?;
    let form = EligibleForm::Bloom {
        bits: bloom.bits,
        hashes: bloom.hashes,
    };
    let bits = STANDARD
        .decode(&bloom.bytes)
        .map_err(|_| Error::invalid("bloom.bytes", "must be base64"))?;
    if EligibleUsers::bloom(0, bits.clone(), bloom.bits, bloom.hashes).is_none() {
        return Err(Error::invalid(
            "bloom",
            format!(
                "must have 1 to {BLOOM_BITS_MAX} bits, as many bytes as they need and no more, and 1 to {BLOOM_HASHES_MAX} hashes"
            ),
        ));
    }
    Ok((EligibleList { form, bytes: bits }, Sha256::digest(&bytes).into()))
}

/// 16 bytes that nobody can guess: two hashes under keys that the system's source of randomness made.
fn salt() -> [u8; 16] {
    let half = || RandomState::new().hash_one("a list of users").to_be_bytes();
    let mut salt = [0; 16];
    salt[..8].copy_from_slice(&half());
    salt[8..].copy_from_slice(&half());
    salt
}

/// The lines of a text that comes in parts.
struct Lines {
    salt: [u8; 16],
    fingerprints: Vec<u64>,
    /// What came of the line that has not ended yet.
    begun: Vec<u8>,
    users_max: usize,
}

impl Lines {
    const fn new(salt: [u8; 16]) -> Self {
        Self {
            salt,
            fingerprints: Vec::new(),
            begun: Vec::new(),
            users_max: ELIGIBLE_USERS_MAX,
        }
    }

    fn push(&mut self, data: &[u8]) -> Result<(), Error> {
        let mut parts = data.split(|&byte| byte == b'\n');
        // There is always a last part: it begins a line, or goes on with one.
        let rest = parts.next_back().unwrap_or_default();
        for part in parts {
            self.begin(part)?;
            self.end()?;
        }
        self.begin(rest)
    }

    fn begin(&mut self, part: &[u8]) -> Result<(), Error> {
        if LINE_BYTES_MAX < self.begun.len() + part.len() {
            return Err(self.refused("is too long"));
        }
        self.begun.extend_from_slice(part);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        let line = self.begun.strip_suffix(b"\r").unwrap_or(&self.begun);
        let user = std::str::from_utf8(line).ok().and_then(|line| UserId::new(line).ok());
        let Some(user) = user else {
            return Err(self.refused("is no user id"));
        };
        if self.fingerprints.len() == self.users_max {
            return Err(self.refused("is one more than a list may have"));
        }
        self.fingerprints.push(fingerprint(&self.salt, &user));
        self.begun.clear();
        Ok(())
    }

    fn refused(&self, why: &'static str) -> Error {
        Error::invalid(format!("line {}", self.fingerprints.len() + 1), why)
    }

    /// The last line may do without its end.
    fn into_list(mut self) -> Result<EligibleList, Error> {
        if !self.begun.is_empty() {
            self.end()?;
        }
        if self.fingerprints.is_empty() {
            let why = "must name at least one user; DELETE takes a list away";
            return Err(Error::invalid("body", why));
        }
        Ok(EligibleList {
            form: EligibleForm::Users { salt: self.salt },
            bytes: self.fingerprints.iter().flat_map(|print| print.to_be_bytes()).collect(),
        })
    }
}

#[cfg(test)]
#[path = "upload_tests.rs"]
mod tests;
