//! What a sale asks of its buyers before they may buy.

use serde::{Deserialize, Serialize};

/// What a buyer must solve before he may buy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Challenge {
    /// Nothing.
    #[default]
    None,
    /// A purchase token from the token route, without a puzzle.
    Token,
    /// A purchase token, given for the answer to what a picture asks.
    Captcha,
    /// A purchase token, given for work that a machine does in a part of a second, and not for thousands of buyers at once.
    Pow,
}

impl Challenge {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::None, Self::Token, Self::Captcha, Self::Pow];

    /// The word used in answers and settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Token => "token",
            Self::Captcha => "captcha",
            Self::Pow => "pow",
        }
    }

    /// Whether who has met this one has met `other`, too. Of a picture and work neither stands for the other.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        const fn height(challenge: Challenge) -> u8 {
            match challenge {
                Challenge::None => 0,
                Challenge::Token => 1,
                Challenge::Captcha | Challenge::Pow => 2,
            }
        }
        self == other || height(other) < height(self)
    }
}
