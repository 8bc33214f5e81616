//! Secrets that come from another one, so that nodes which share that one share them, too.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A secret for one purpose: HMAC-SHA256 of the purpose under `secret`. It tells nothing of `secret`, nor of one for another purpose.
///
/// # Panics
/// Never: HMAC takes keys of every length.
#[must_use]
pub fn derived_secret(secret: &[u8], purpose: &str) -> [u8; 32] {
    let mut keyed = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of every length");
    keyed.update(b"seckill: ");
    keyed.update(purpose.as_bytes());
    keyed.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_secret_gives_the_same_one_for_a_purpose_and_others_for_others() {
        let one = derived_secret(b"a secret of many nodes", "purchase tokens");
        assert_eq!(one, derived_secret(b"a secret of many nodes", "purchase tokens"));
        assert_ne!(one, derived_secret(b"a secret of many nodes", "devices"));
        assert_ne!(one, derived_secret(b"another secret", "purchase tokens"));
    }
}
