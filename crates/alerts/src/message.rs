//! An alert as it is sent: JSON, signed as Standard Webhooks have it (HMAC-SHA256 over `id.timestamp.body`), as the payment webhook is.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::json;
use sha2::Sha256;

use crate::Alert;

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be base64 of at least 24 bytes, with or without \"whsec_\" before it")]
pub struct SigningKeyError;

/// The key that messages are signed with.
#[derive(Clone)]
pub struct SigningKey(Vec<u8>);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}

impl SigningKey {
    /// Shortest key, in bytes.
    const LENGTH_MIN: usize = 24;

    /// Reads `whsec_` and base64.
    ///
    /// # Errors
    /// [`SigningKeyError`].
    pub fn parse(text: &str) -> Result<Self, SigningKeyError> {
        let encoded = text.strip_prefix("whsec_").unwrap_or(text);
        let key = STANDARD.decode(encoded).map_err(|_| SigningKeyError)?;
        if key.len() < Self::LENGTH_MIN {
            return Err(SigningKeyError);
        }
        Ok(Self(key))
    }

    /// The header `webhook-signature`.
    pub(crate) fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        let timestamp = timestamp.to_string();
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// A message on its way; its id stays the same however often it is sent.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) body: Bytes,
}

impl Message {
    pub(crate) fn new(alert: &Alert, node: &str) -> Self {
        let body = json!({
            "type": format!("alert.{}", alert.turn.as_str()),
            "data": {
                "kind": alert.kind.as_str(),
                "activity_id": alert.activity.map(seckill_sale::ActivityId::get),
                "since_ms": alert.since,
                "at_ms": alert.at,
                "said": alert.said,
                "node": node,
            },
        });
        Self {
            id: format!("msg_{:032x}", rand::random::<u128>()),
            body: body.to_string().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_the_published_example() {
        // The example of the specification's reference libraries.
        let key = SigningKey::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature = key.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_key_is_base64_and_long_enough() {
        assert!(SigningKey::parse(&STANDARD.encode([7; 24])).is_ok());
        for text in ["", "whsec_", "whsec_!", &STANDARD.encode([7; 23])] {
            assert_eq!(SigningKey::parse(text).err(), Some(SigningKeyError), "{text}");
        }
    }
}
