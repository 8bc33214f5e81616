//! The headers of a signed request, read before anything proves what they say.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::Hmac;
use http::HeaderMap;
use http::header::HeaderName;
use seckill_sale::{EpochMs, UserId};
use sha2::Sha256;

use super::{CLIENT_HEADER, Clients, OFF_MS_MAX};

pub(super) const NAME_HEADER: HeaderName = HeaderName::from_static(CLIENT_HEADER);
pub(super) const TIMESTAMP_HEADER: HeaderName = HeaderName::from_static("x-timestamp");
pub(super) const NONCE_HEADER: HeaderName = HeaderName::from_static("x-nonce");
pub(super) const SIGNATURE_HEADER: HeaderName = HeaderName::from_static("x-signature");

/// Smaller timestamps are in seconds: in milliseconds they would lie before March 1973.
const MILLISECONDS_MIN: i64 = 100_000_000_000;
/// Characters of a nonce.
const NONCE_LENGTH: std::ops::RangeInclusive<usize> = 16..=64;
/// Bytes of a signature.
pub(super) const TAG_BYTES: usize = 32;

pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What the headers of a signed request say, before anything proves it.
pub(super) struct Head<'a> {
    pub(super) client: &'a str,
    pub(super) keyed: &'a Hmac<Sha256>,
    pub(super) user: UserId,
    pub(super) timestamp: &'a str,
    pub(super) at: EpochMs,
    pub(super) nonce: &'a str,
    pub(super) tag: [u8; TAG_BYTES],
}

impl<'a> Head<'a> {
    /// None where a header is missing, doubled or ill-formed, the client is none of these, or the timestamp does not count now.
    pub(super) fn of(clients: &'a Clients, headers: &'a HeaderMap, now: EpochMs) -> Option<Self> {
        let once = |name: HeaderName| {
            let mut values = headers.get_all(name).iter();
            let value = values.next()?.to_str().ok()?;
            values.next().is_none().then_some(value)
        };
        let client = once(NAME_HEADER)?;
        let (_, keyed) = clients.0.iter().find(|(name, _)| **name == *client)?;
        let (timestamp, nonce) = (once(TIMESTAMP_HEADER)?, once(NONCE_HEADER)?);
        let at = moment(timestamp)?;
        let timely = at.since(now).abs() <= OFF_MS_MAX;
        (timely && is_nonce(nonce)).then_some(())?;
        Some(Self {
            client,
            keyed,
            user: UserId::new(once(crate::USER_HEADER)?).ok()?,
            timestamp,
            at,
            nonce,
            tag: tag(once(SIGNATURE_HEADER)?)?,
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

/// The bytes of a signature: 64 hexadecimal digits, or base64 with or without padding.
pub(super) fn tag(text: &str) -> Option<[u8; TAG_BYTES]> {
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
