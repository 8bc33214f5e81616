//! Secrets of webhooks, whoever signs with them.

use crate::error::Error;
use crate::reader::Reader;
use crate::secret::Secret;

/// Characters of a webhook secret without its prefix: 24 bytes in base64, the least that Standard Webhooks allows.
const WEBHOOK_SECRET_CHARS_MIN: usize = 32;

/// What can't be the secret of a webhook is refused.
pub(super) fn check(reader: &Reader<'_>, key: &str, secret: &Secret) {
    let text = secret.reveal();
    let body = text.strip_prefix("whsec_").unwrap_or(text);
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if !body.bytes().all(base64) {
        reader.refuse(Error::Invalid {
            key: key.to_owned(),
            origin: reader.origin(key),
            expected: "base64, such as `whsec_` and what `openssl rand -base64 32` writes".to_owned(),
            found: "what was given".to_owned(),
        });
    } else if body.len() < WEBHOOK_SECRET_CHARS_MIN {
        reader.weak(key, "it is shorter than 24 bytes");
    } else if let Some(reason) = crate::weak::reason(body) {
        reader.weak(key, reason);
    }
}
