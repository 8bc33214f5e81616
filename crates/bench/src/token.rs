//! User tokens (HS256 JWT) and the scattered user ids that go into them.
//!
//! It signs; it never verifies: that is the server's work, and a generator that shared code with it could not find its faults.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::{Error, Result};

/// `{"alg":"HS256","typ":"JWT"}`, encoded once.
const HEADER: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
/// What SplitMix64 adds to its counter: odd, so the counter visits every 64-bit number before it repeats.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Makes tokens with one secret and one expiry.
#[derive(Clone)]
pub struct Signer {
    keyed: Hmac<Sha256>,
    expires_at_s: i64,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Signer")
            .field("expires_at_s", &self.expires_at_s)
            .finish_non_exhaustive()
    }
}

impl Signer {
    /// A signer whose tokens expire at `expires_at_s` (seconds since the epoch).
    pub fn new(secret: &[u8], expires_at_s: i64) -> Self {
        let keyed = Hmac::new_from_slice(secret).expect("HMAC takes a key of any length");
        Self { keyed, expires_at_s }
    }

    /// A signer whose tokens expire `ttl_s` seconds from now.
    pub fn expiring_in(secret: &[u8], ttl_s: i64) -> Self {
        Self::new(secret, jiff::Timestamp::now().as_second() + ttl_s)
    }

    /// The compact JWT of this user. `user` is opaque; it is escaped as JSON needs it.
    pub fn token(&self, user: &str) -> String {
        let subject = serde_json::Value::from(user);
        let claims = format!(r#"{{"sub":{subject},"exp":{}}}"#, self.expires_at_s);
        let mut token = String::with_capacity(HEADER.len() + claims.len() * 4 / 3 + 48);
        token.push_str(HEADER);
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let mut keyed = self.keyed.clone();
        keyed.update(token.as_bytes());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(keyed.finalize().into_bytes(), &mut token);
        token
    }
}

/// An endless supply of user ids, `u` and 16 hexadecimal digits: scattered like real ones, yet all different.
///
/// The numbers come from SplitMix64. A plain random generator would look the same but could repeat an id, and a repeated buyer is
/// refused with 40004, which a sale that counts its refusals would take for a fault of the server.
#[derive(Debug, Clone)]
pub struct UserIds {
    counter: u64,
}

impl UserIds {
    /// The sequence of this seed: the same seed gives the same ids.
    pub fn seeded(seed: u64) -> Self {
        Self { counter: seed }
    }

    /// A sequence that nobody has seen before.
    pub fn random() -> Self {
        Self::seeded(rand::random())
    }
}

impl Iterator for UserIds {
    type Item = String;

    fn nth(&mut self, skipped: usize) -> Option<String> {
        self.counter = self.counter.wrapping_add(GOLDEN_GAMMA.wrapping_mul(skipped as u64));
        self.next()
    }

    fn next(&mut self) -> Option<String> {
        self.counter = self.counter.wrapping_add(GOLDEN_GAMMA);
        let mut mixed = self.counter;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        Some(format!("u{mixed:016x}"))
    }
}

/// Writes `count` tokens of new users to `path`, one a line.
///
/// # Errors
/// [`Error::Io`] when the file can't be made or written.
pub fn write_tokens(path: &Path, count: usize, signer: &Signer, users: &mut UserIds) -> Result<()> {
    let file = std::fs::File::create(path).map_err(Error::file("create", path))?;
    let mut out = BufWriter::new(file);
    for user in users.take(count) {
        writeln!(out, "{}", signer.token(&user)).map_err(Error::file("write", path))?;
    }
    out.flush().map_err(Error::file("write", path))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn signature_equals_the_known_vector() {
        // The file was made with the hmac module of Python, not with this code.
        let signer = Signer::new(b"0123456789abcdef0123456789abcdef", 2_000_000_000);
        assert_eq!(signer.token("alice"), include_str!("../tests/alice.jwt").trim_end());
    }

    #[test]
    fn header_is_what_it_says() {
        assert_eq!(
            URL_SAFE_NO_PAD.decode(HEADER).unwrap(),
            br#"{"alg":"HS256","typ":"JWT"}"#
        );
    }

    #[test]
    fn user_with_a_quote_stays_inside_its_string() {
        let token = Signer::new(b"k", 1).token("a\"b");
        let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
        assert_eq!(
            serde_json::from_slice::<serde_json::Value>(&claims).unwrap()["sub"],
            "a\"b"
        );
    }

    #[test]
    fn user_ids_are_distinct_scattered_and_repeatable() {
        let ids: Vec<String> = UserIds::seeded(7).take(50_000).collect();
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
        assert!(ids.iter().all(|id| id.len() == 17 && id.starts_with('u')));
        assert!(!ids.is_sorted());
        assert_eq!(UserIds::seeded(7).nth(49_999).as_ref(), ids.last());
        assert!(UserIds::seeded(7).take(50_000).eq(ids));
    }

    #[test]
    fn token_file_has_one_token_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        write_tokens(&path, 3, &Signer::new(b"k", 1), &mut UserIds::seeded(1)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().all(|line| line.split('.').count() == 3));
    }
}
