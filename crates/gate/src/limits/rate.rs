//! What a limit is: a rate that is allowed for ever and a burst on top of it, or nothing. One grammar for settings and switches:
//! `50/s burst 100`, `30/min burst 5`, `2/s` (a burst of 2), `off`. How a limit is kept is the limiter's matter.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// A rate that is allowed for ever, and how many may come at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Requests in each `per`, from 1 to [`Rate::PERMITS_MAX`].
    permits: u32,
    /// One second or one minute.
    per: Duration,
    /// Requests that may come at once after a pause, from 1 to [`Rate::PERMITS_MAX`].
    burst: u32,
}

impl Rate {
    /// Largest number of permits and largest burst. It also keeps a packed rate within 64 bits.
    pub const PERMITS_MAX: u32 = 1_000_000;

    /// `permits` a second.
    ///
    /// # Errors
    /// [`Error`] where a number is 0 or above [`Self::PERMITS_MAX`].
    pub fn per_second(permits: u32, burst: u32) -> Result<Self, Error> {
        Self::checked(permits, SECOND, burst)
    }

    /// `permits` a minute.
    ///
    /// # Errors
    /// [`Error`] where a number is 0 or above [`Self::PERMITS_MAX`].
    pub fn per_minute(permits: u32, burst: u32) -> Result<Self, Error> {
        Self::checked(permits, MINUTE, burst)
    }

    fn checked(permits: u32, per: Duration, burst: u32) -> Result<Self, Error> {
        let allowed = 1..=Self::PERMITS_MAX;
        let fine = allowed.contains(&permits) && allowed.contains(&burst);
        fine.then_some(Self { permits, per, burst }).ok_or(Error)
    }

    /// Microseconds from one permit to the next, rounded to the nearest and at least 1.
    pub(crate) fn interval_us(self) -> u64 {
        let per_us = self.per.as_secs() * 1_000_000;
        let permits = u64::from(self.permits);
        ((per_us + permits / 2) / permits).max(1)
    }

    /// Requests that may come at once.
    pub(crate) fn burst(self) -> u64 {
        u64::from(self.burst)
    }
}

/// A limit, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Nothing is limited.
    Off,
    /// This rate.
    Rate(Rate),
}

impl Limit {
    /// Whether it lets through no more than `other` at any moment, and less at some. Of a lower rate with a larger burst nobody can say.
    #[must_use]
    pub fn is_narrower_than(self, other: Self) -> bool {
        match (self, other) {
            (Self::Off, _) => false,
            (Self::Rate(_), Self::Off) => true,
            (Self::Rate(this), Self::Rate(other)) => {
                let within = other.interval_us() <= this.interval_us() && this.burst <= other.burst;
                within && (other.interval_us() < this.interval_us() || this.burst < other.burst)
            }
        }
    }
}

/// A text that is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a rate such as \"50/s burst 100\" or \"30/min burst 5\" (numbers from 1 to 1000000), or \"off\"")]
pub struct Error;

impl FromStr for Limit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text == "off" {
            return Ok(Self::Off);
        }
        let mut words = text.split_whitespace();
        let (permits, per) = words.next().and_then(|word| word.split_once('/')).ok_or(Error)?;
        let permits = count(permits)?;
        let per = match per {
            "s" => SECOND,
            "min" => MINUTE,
            _ => return Err(Error),
        };
        let burst = match (words.next(), words.next(), words.next()) {
            (None, ..) => permits,
            (Some("burst"), Some(burst), None) => count(burst)?,
            _ => return Err(Error),
        };
        Rate::checked(permits, per, burst).map(Self::Rate)
    }
}

/// Digits alone: `u32` would also take a sign.
fn count(text: &str) -> Result<u32, Error> {
    let digits_only = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits_only).ok_or(Error)
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Rate(Rate { permits, per, burst }) => {
                let unit = if *per == MINUTE { "min" } else { "s" };
                write!(f, "{permits}/{unit} burst {burst}")
            }
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Whatever stands there, what a limit is written like is told.
        let text = String::deserialize(deserializer).map_err(|_| de::Error::custom(Error))?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
