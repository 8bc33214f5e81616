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
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_read_back_as_written() {
        for text in ["50/s burst 100", "30/min burst 5", "1000000/s burst 1000000", "off"] {
            assert_eq!(text.parse::<Limit>().expect("a limit").to_string(), text);
        }
        assert_eq!(
            "2/s".parse(),
            Ok(Limit::Rate(Rate::per_second(2, 2).expect("in range")))
        );
    }

    #[test]
    fn whatever_is_no_limit_is_refused() {
        let bad = [
            "",
            "on",
            "OFF",
            "50",
            "/s",
            "0/s",
            "-1/s",
            "+1/s",
            "1.5/s",
            "5/h",
            "5/s burst",
            "5/s burst 0",
        ];
        for text in bad.into_iter().chain([
            "5/s burst 3 4",
            "5/s 3",
            "1000001/s",
            "5 /s",
            "99999999999/s",
            "5/s burst x",
        ]) {
            assert_eq!(text.parse::<Limit>(), Err(Error), "{text:?}");
        }
    }

    #[test]
    fn interval_is_the_time_of_one_permit() {
        let interval = |text: &str| match text.parse().expect("a limit") {
            Limit::Rate(rate) => rate.interval_us(),
            Limit::Off => 0,
        };
        assert_eq!(interval("50/s"), 20_000);
        assert_eq!(interval("1/min"), 60_000_000);
        assert_eq!(interval("1000000/s"), 1);
        assert_eq!(interval("3/s"), 333_333);
    }
}
