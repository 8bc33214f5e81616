//! A value that is never shown: neither by `Debug` nor by `Display`, so that no log line can carry it by accident.

use std::fmt;

/// A secret text. Only [`Secret::reveal`] gives it out, which makes every use of it easy to find.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// What stands in the place of a secret wherever settings are shown.
    pub const MASK: &'static str = "********";

    /// Wraps a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself. Compare it in constant time.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_not_shown_by_debug_or_display() {
        let secret = Some(Secret::new("held-by-the-shop"));
        assert_eq!(format!("{secret:?}"), "Some(********)");
        assert_eq!(Secret::new("held-by-the-shop").to_string(), Secret::MASK);
    }
}
