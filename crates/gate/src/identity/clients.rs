//! Requests that a shop's own backend signs for its buyers: who the user is stands in `X-User-Id`, and that the shop said so in `X-Signature`.
//!
//! ```text
//! X-Signature = HMAC-SHA256(secret, METHOD \n path?query \n X-Timestamp \n X-Nonce \n X-User-Id \n hex(SHA-256(body)))
//! ```
//!
//! in hexadecimal or base64. A timestamp may be 30 s early or late by the store's clock, and a nonce counts once. Whether it was there before
//! only the store can tell: this file says under which key and how long it has to be remembered.

use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use http::header::HeaderName;
use seckill_sale::{EpochMs, UserId};
use sha2::{Digest, Sha256};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Header that names the client.
pub const CLIENT_HEADER: HeaderName = HeaderName::from_static("x-client-id");
const TIMESTAMP_HEADER: HeaderName = HeaderName::from_static("x-timestamp");
const NONCE_HEADER: HeaderName = HeaderName::from_static("x-nonce");
const SIGNATURE_HEADER: HeaderName = HeaderName::from_static("x-signature");

/// How far a timestamp may be off.
const OFF_MS_MAX: i64 = 30_000;
/// How much longer a nonce is remembered than its timestamp counts: nodes know the store's time to within milliseconds.
const KEPT_LONGER_MS: i64 = 5_000;
/// Smaller timestamps are in seconds: in milliseconds they would lie before March 1973.
const MILLISECONDS_MIN: i64 = 100_000_000_000;
/// Characters of a nonce.
const NONCE_LENGTH: std::ops::RangeInclusive<usize> = 16..=64;
/// Bytes of a signature.
const TAG_BYTES: usize = 32;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Who may sign requests for others.
#[derive(Default)]
pub struct Clients(Vec<(Box<str>, Hmac<Sha256>)>);

impl std::fmt::Debug for Clients {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// A request whose signature is to be checked.
#[derive(Debug, Clone, Copy)]
pub struct SignedRequest<'a> {
    /// `POST`, …
    pub method: &'a str,
    /// Path and query as they were sent.
    pub target: &'a str,
    /// All headers.
    pub headers: &'a HeaderMap,
    /// All of the body.
    pub body: &'a [u8],
}

/// A user for whom a client vouches. Only [`Clients::verify`] makes one; it counts once its nonce was new to the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    pub(crate) user: UserId,
    nonce: [u8; 16],
    until: EpochMs,
}

impl Vouched {
    /// The key by which the store remembers the nonce, apart for each client.
    #[must_use]
    pub const fn nonce(&self) -> [u8; 16] {
        self.nonce
    }

    /// How long the store has to remember it.
    #[must_use]
    pub const fn until(&self) -> EpochMs {
        self.until
    }
}

impl Clients {
    /// Clients with these names and secrets. The caller has made sure that the names differ and the secrets are long.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let keyed = |(name, secret): (&str, &[u8])| {
            let keyed = Hmac::new_from_slice(secret).expect("HMAC takes keys of every length");
            (name.into(), keyed)
        };
        Self(secrets.into_iter().map(keyed).collect())
    }

    /// Whether nobody may sign.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For whom the request was signed; none where anything of it is missing, doubled, ill-formed, too old or wrong.
    #[must_use]
    pub fn verify(&self, request: SignedRequest<'_>, now: EpochMs) -> Option<Vouched> {
        let once = |name: HeaderName| {
            let mut values = request.headers.get_all(name).iter();
            let value = values.next()?.to_str().ok()?;
            values.next().is_none().then_some(value)
        };
        let (client, user) = (once(CLIENT_HEADER)?, once(crate::USER_HEADER)?);
        let (timestamp, nonce) = (once(TIMESTAMP_HEADER)?, once(NONCE_HEADER)?);
        let (_, keyed) = self.0.iter().find(|(name, _)| **name == *client)?;
        let at = moment(timestamp)?;
        let timely = at.since(now).abs() <= OFF_MS_MAX;
        if !timely || !is_nonce(nonce) {
            return None;
        }
        let tag = tag(once(SIGNATURE_HEADER)?)?;
        let body = hex(&Sha256::digest(request.body));
        let mut mac = keyed.clone();
        for part in [request.method, request.target, timestamp, nonce, user] {
            mac.update(part.as_bytes());
            mac.update(b"\n");
        }
        mac.update(body.as_bytes());
        mac.verify_slice(&tag).ok()?;
        Some(Vouched {
            user: UserId::new(user).ok()?,
            nonce: nonce_key(client, nonce),
            until: at.plus(OFF_MS_MAX + KEPT_LONGER_MS),
        })
    }
}

/// A moment in whole seconds or milliseconds.
fn moment(text: &str) -> Option<EpochMs> {
    let plain = (1..=15).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = text.parse().ok().filter(|_| plain)?;
    Some(EpochMs(if number < MILLISECONDS_MIN {
        number * 1000
    } else {
        number
    }))
}

fn is_nonce(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+/=:".contains(&byte);
    NONCE_LENGTH.contains(&text.len()) && text.bytes().all(allowed)
}

fn nonce_key(client: &str, nonce: &str) -> [u8; 16] {
    let digest = Sha256::new()
        .chain_update(b"nonce of a client\n")
        .chain_update(client)
        .chain_update(b"\n")
        .chain_update(nonce)
        .finalize();
    let mut key: [u8; 16] = *digest.first_chunk().expect("a digest has 32 bytes");
    // Of another kind than those of challenges: a flood of the one leaves room for the other.
    key[0] |= 0x80;
    key
}

/// The bytes of a signature: 64 hexadecimal digits, or base64 with or without padding.
fn tag(text: &str) -> Option<[u8; TAG_BYTES]> {
    if text.len() != 2 * TAG_BYTES {
        return BASE64.decode(text).ok()?.try_into().ok();
    }
    let mut tag = [0; TAG_BYTES];
    for (byte, digits) in tag.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let value = |digit: u8| char::from(digit).to_digit(16);
        *byte = (value(digits[0])? * 16 + value(digits[1])?) as u8;
    }
    Some(tag)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

#[cfg(test)]
#[path = "clients_tests.rs"]
mod tests;
