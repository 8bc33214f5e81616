//! Money: integer minor units and a currency, never a float.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use crate::IdError;

/// ISO 4217 code: three capital letters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "CompactString", into = "CompactString")]
pub struct Currency(CompactString);

impl Currency {
    /// Checks the form, not the list of currencies.
    ///
    /// # Errors
    /// [`IdError::BadText`] unless it is three capital ASCII letters.
    pub fn new(text: &str) -> Result<Self, IdError> {
        if text.len() != 3 || !text.bytes().all(|b| b.is_ascii_uppercase()) {
            return Err(IdError::BadText {
                what: "currency",
                length_max: 3,
                alphabet: "A-Z, three of them",
            });
        }
        Ok(Self(CompactString::from(text)))
    }

    /// The code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<CompactString> for Currency {
    type Error = IdError;
    fn try_from(text: CompactString) -> Result<Self, IdError> {
        Self::new(&text)
    }
}

impl From<Currency> for CompactString {
    fn from(currency: Currency) -> Self {
        currency.0
    }
}

/// Price of one unit in minor units (cents, 分).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Price(u64);

impl Price {
    /// Largest price of one unit, in minor units: with the largest quantity the amount still fits 2⁵³.
    pub const CENTS_MAX: u64 = 9_000_000_000;

    /// Checks the range.
    ///
    /// # Errors
    /// [`IdError::OutOfRange`] above [`Self::CENTS_MAX`].
    pub const fn new(cents: u64) -> Result<Self, IdError> {
        if Self::CENTS_MAX < cents {
            return Err(IdError::OutOfRange {
                what: "price in cents",
                min: 0,
                max: Self::CENTS_MAX,
            });
        }
        Ok(Self(cents))
    }

    /// Minor units of one unit.
    #[must_use]
    pub const fn cents(self) -> u64 {
        self.0
    }

    /// Minor units of `quantity` units.
    #[must_use]
    pub const fn amount_cents(self, quantity: crate::Quantity) -> u64 {
        self.0 * quantity.get()
    }
}

impl TryFrom<u64> for Price {
    type Error = IdError;
    fn try_from(cents: u64) -> Result<Self, IdError> {
        Self::new(cents)
    }
}

impl From<Price> for u64 {
    fn from(price: Price) -> u64 {
        price.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Quantity;

    #[test]
    fn amount_of_the_largest_purchase_stays_exact_in_json() {
        let price = Price::new(Price::CENTS_MAX).expect("in range");
        assert!(price.amount_cents(Quantity::new(Quantity::MAX).expect("in range")) < 1 << 53);
    }

    #[test]
    fn currency_is_three_capitals() {
        assert!(Currency::new("CNY").is_ok());
        for bad in ["", "cny", "CN", "CNYX", "CN1", "元"] {
            assert!(Currency::new(bad).is_err(), "{bad:?}");
        }
    }
}
