//! Identifiers that are words: of a buyer, of a request, of what makes a request one.

use std::fmt;

use compact_str::CompactString;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};

use crate::ids::IdError;

/// Letters, digits, and the bytes of `others`: a look-up per byte of every id of every request.
const fn alphabet(others: &[u8]) -> [bool; 256] {
    let mut allowed = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        allowed[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let mut other = 0;
    while other < others.len() {
        allowed[others[other] as usize] = true;
        other += 1;
    }
    allowed
}

/// What a kind of word is made of.
struct Spelling {
    what: &'static str,
    length_max: usize,
    /// The allowed characters, in words and as a table.
    alphabet: &'static str,
    allowed: [bool; 256],
}

impl Spelling {
    fn word(&self, text: &str) -> Result<CompactString, IdError> {
        let fits = (1..=self.length_max).contains(&text.len());
        if fits && text.bytes().all(|byte| self.allowed[byte as usize]) {
            return Ok(CompactString::from(text));
        }
        Err(IdError::BadText {
            what: self.what,
            length_max: self.length_max,
            alphabet: self.alphabet,
        })
    }
}

/// A buyer: the opaque `sub` of his token, compared bytewise everywhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "CompactString")]
pub struct UserId(CompactString);

impl UserId {
    /// Longest id, in characters (all are ASCII).
    pub const LENGTH_MAX: usize = 64;

    /// Checks length and alphabet.
    ///
    /// # Errors
    /// [`IdError::BadText`] unless the text is 1 to 64 characters of `A-Z a-z 0-9 . _ : @ -`.
    pub fn new(text: &str) -> Result<Self, IdError> {
        static SPELLING: Spelling = Spelling {
            what: "user id",
            length_max: UserId::LENGTH_MAX,
            alphabet: "A-Z a-z 0-9 . _ : @ -",
            allowed: alphabet(b"._:@-"),
        };
        SPELLING.word(text).map(Self)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for UserId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = UserId;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a user id")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<UserId, E> {
                UserId::new(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl From<UserId> for CompactString {
    fn from(user: UserId) -> Self {
        user.0
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What names one request in logs, from the gateway to the worker. It traces only; it never decides anything.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct RequestId(CompactString);

impl RequestId {
    /// Longest id, in characters.
    pub const LENGTH_MAX: usize = 128;

    /// Checks length and alphabet.
    ///
    /// # Errors
    /// [`IdError::BadText`] unless the text is 1 to 128 characters of `A-Z a-z 0-9 . _ -`.
    pub fn new(text: &str) -> Result<Self, IdError> {
        static SPELLING: Spelling = Spelling {
            what: "request id",
            length_max: RequestId::LENGTH_MAX,
            alphabet: "A-Z a-z 0-9 . _ -",
            allowed: alphabet(b"._-"),
        };
        SPELLING.word(text).map(Self)
    }

    /// A fresh id: 16 hexadecimal digits of `bits`.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits: [u8; 16] = std::array::from_fn(|place| DIGITS[(bits >> (60 - 4 * place)) as usize & 15]);
        Self(CompactString::from(
            std::str::from_utf8(&digits).expect("hexadecimal digits are ASCII"),
        ))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What makes a purchase idempotent: 128 bits of the client's `Idempotency-Key` digest, or random ones where it sent none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestKey(pub [u8; 16]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_ids_are_ascii_words_of_at_most_64() {
        for bad in ["", "a b", "a\0b", "ü", "{1}", "a\n", "a/b", &"x".repeat(65)] {
            assert!(UserId::new(bad).is_err(), "{bad:?}");
        }
        assert!(UserId::new("A-z.0_9:@").is_ok());
        assert!(UserId::new(&"x".repeat(64)).is_ok());
    }

    #[test]
    fn fresh_request_ids_are_sixteen_hexadecimal_digits() {
        assert_eq!(RequestId::from_bits(0x00ab_cdef_0123_4567).as_str(), "00abcdef01234567");
    }
}
