//! Requests that a shop's own backend signs for its buyers: who the user is stands in `X-User-Id`, and that the shop said so in `X-Signature`.
//!
//! ```text
//! X-Signature = HMAC-SHA256(secret, METHOD \n path?query \n X-Timestamp \n X-Nonce \n X-User-Id \n hex(SHA-256(body)))
//! ```
//!
//! in hexadecimal or base64. A timestamp may be 30 s early or late by the store's clock, and a nonce counts once. Whether it was there before
//! only the store can tell: this file says under which key and how long it has to be remembered.

mod head;

use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use seckill_sale::{EpochMs, UserId};
use sha2::{Digest, Sha256};

use head::Head;

/// Name of the header that names the client.
pub const CLIENT_HEADER: &str = "x-client-id";

/// How far a timestamp may be off.
const OFF_MS_MAX: i64 = 30_000;
/// How much longer a nonce is remembered than its timestamp counts: nodes know the store's time to within milliseconds.
const KEPT_LONGER_MS: i64 = 5_000;
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

    /// Whether a request with these headers may be a signed one: none of them is missing, doubled or ill-formed, the client is known and
    /// the timestamp counts now. Where not, its body need not be waited for.
    #[must_use]
    pub fn may_have_signed(&self, headers: &HeaderMap, now: EpochMs) -> bool {
        Head::of(self, headers, now).is_some()
    }

    /// For whom the request was signed; none where anything of it is missing, doubled, ill-formed, too old or wrong.
    #[must_use]
    pub fn verify(&self, request: SignedRequest<'_>, now: EpochMs) -> Option<Vouched> {
        let head = Head::of(self, request.headers, now)?;
        let body = hex(&Sha256::digest(request.body));
        let mut mac = head.keyed.clone();
        for part in [
            request.method,
            request.target,
            head.timestamp,
            head.nonce,
            head.user.as_str(),
        ] {
            mac.update(part.as_bytes());
            mac.update(b"\n");
        }
        mac.update(body.as_bytes());
        mac.verify_slice(&head.tag).ok()?;
        Some(Vouched {
            user: head.user,
            nonce: nonce_key(head.client, head.nonce),
            until: head.at.plus(OFF_MS_MAX + KEPT_LONGER_MS),
        })
    }
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
