//! Identifiers and amounts, each parsed strictly once at the edge; past it no value of these types can be out of range.

use std::fmt;
use std::str::FromStr;

use compact_str::CompactString;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};

/// Why a text or number is not an identifier or amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Not made of ASCII digits alone, or with a leading zero or sign.
    #[error("{what} must be a plain decimal number")]
    NotANumber {
        /// What was being read.
        what: &'static str,
    },
    /// A number, but outside of the range.
    #[error("{what} must be from {min} to {max}")]
    OutOfRange {
        /// What was being read.
        what: &'static str,
        /// Smallest value allowed.
        min: u64,
        /// Largest value allowed.
        max: u64,
    },
    /// A text of a wrong length or with a character outside of the allowed set.
    #[error("{what} must be 1 to {length_max} characters of {alphabet}")]
    BadText {
        /// What was being read.
        what: &'static str,
        /// Largest length in characters.
        length_max: usize,
        /// The allowed characters, in words.
        alphabet: &'static str,
    },
}

/// Reads a decimal number of digits alone: no sign, no spaces, no exponent, no leading zero.
fn parse_digits(what: &'static str, text: &str) -> Result<u64, IdError> {
    let plain =
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && !(text.len() > 1 && text.starts_with('0'));
    if !plain {
        return Err(IdError::NotANumber { what });
    }
    text.parse().map_err(|_| IdError::NotANumber { what })
}

macro_rules! bounded_number {
    ($(#[$doc:meta])* $name:ident($inner:ty), $what:literal, $min:expr, $max:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "u64", into = "u64")]
        pub struct $name($inner);

        impl $name {
            /// Smallest value.
            pub const MIN: u64 = $min;
            /// Largest value.
            pub const MAX: u64 = $max;

            /// Checks the range.
            ///
            /// # Errors
            /// [`IdError::OutOfRange`] outside of [`Self::MIN`] to [`Self::MAX`].
            pub const fn new(value: u64) -> Result<Self, IdError> {
                if value < Self::MIN || Self::MAX < value {
                    return Err(IdError::OutOfRange { what: $what, min: $min, max: $max });
                }
                Ok(Self(value as $inner))
            }

            /// The number.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0 as u64
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(parse_digits($what, text)?)
            }
        }

        impl TryFrom<u64> for $name {
            type Error = IdError;
            fn try_from(value: u64) -> Result<Self, IdError> {
                Self::new(value)
            }
        }

        impl From<$name> for u64 {
            fn from(value: $name) -> u64 {
                value.get()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// 2⁵³ − 1: the largest integer that every JSON reader keeps exact.
const JSON_SAFE_MAX: u64 = (1 << 53) - 1;

bounded_number! {
    /// One activity (one sale of one product in one window).
    ActivityId(u64), "activity id", 1, JSON_SAFE_MAX
}
bounded_number! {
    /// One product of the shop.
    ProductId(u64), "product id", 1, JSON_SAFE_MAX
}
bounded_number! {
    /// Units asked for by one purchase.
    Quantity(u32), "quantity", 1, 1_000_000
}
bounded_number! {
    /// Units of an activity or a product at creation and when stock is added.
    Stock(u32), "stock", 1, 1_000_000_000
}
bounded_number! {
    /// Generation of an activity's store state; every rebuild counts it up, so that what belongs to an older state can be told.
    Epoch(u32), "epoch", 1, 4_294_967_295
}

impl Quantity {
    /// One unit.
    pub const ONE: Self = Self(1);
}

impl Epoch {
    /// The epoch of the first preheat.
    pub const FIRST: Self = Self(1);
}

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

/// Whether `text` has 1 to `length_max` bytes, all of them `allowed`.
fn is_word(text: &str, length_max: usize, allowed: &[bool; 256]) -> bool {
    (1..=length_max).contains(&text.len()) && text.bytes().all(|byte| allowed[byte as usize])
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
        const ALLOWED: [bool; 256] = alphabet(b"._:@-");
        if !is_word(text, Self::LENGTH_MAX, &ALLOWED) {
            return Err(IdError::BadText {
                what: "user id",
                length_max: Self::LENGTH_MAX,
                alphabet: "A-Z a-z 0-9 . _ : @ -",
            });
        }
        Ok(Self(CompactString::from(text)))
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
        const ALLOWED: [bool; 256] = alphabet(b"._-");
        if !is_word(text, Self::LENGTH_MAX, &ALLOWED) {
            return Err(IdError::BadText {
                what: "request id",
                length_max: Self::LENGTH_MAX,
                alphabet: "A-Z a-z 0-9 . _ -",
            });
        }
        Ok(Self(CompactString::from(text)))
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

/// What ties a journal and a database together: made once, when a data folder is first used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstallationId(pub [u8; 16]);

impl fmt::Display for InstallationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_strictly() {
        for bad in [
            "",
            "-1",
            "+1",
            "01",
            "1.0",
            "1e3",
            " 1",
            "0x1",
            "１",
            "18446744073709551616",
            "0",
            "9007199254740992",
        ] {
            assert!(bad.parse::<ActivityId>().is_err(), "{bad:?}");
        }
        assert_eq!(
            "9007199254740991".parse::<ActivityId>().map(ActivityId::get),
            Ok(JSON_SAFE_MAX)
        );
    }

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
