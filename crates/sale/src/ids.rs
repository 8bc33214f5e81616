//! Identifiers and amounts, each parsed strictly once at the edge; past it no value of these types can be out of range.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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
    /// Number of sub-stocks of an activity.
    Shards(u16), "shards", 1, 16
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
}
