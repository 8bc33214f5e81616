//! The grammar of limits: `N/s burst M`, `N/min burst M`, or `off`. Without `burst` the burst is N.
//! The same grammar serves the settings file and the operator's switches. How a limit is kept is the limiter's matter.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Largest number of permits and largest burst.
const PERMITS_MAX: u32 = 1_000_000;
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// What a limit takes, for error messages.
pub(crate) const EXPECTED: &str = "a rate such as \"50/s burst 100\" or \"30/min burst 5\", or \"off\"";

/// A rate that is allowed for ever, and how many may come at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Requests in each `per`; at least 1.
    pub permits: u32,
    /// One second or one minute.
    pub per: Duration,
    /// Requests that may come at once after a pause; at least 1.
    pub burst: u32,
}

/// A limit, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// Nothing is limited.
    Off,
    /// This rate.
    Rate(Rate),
}

impl FromStr for RateLimit {
    /// What would have been right.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or(EXPECTED)
    }
}

fn parse(text: &str) -> Option<RateLimit> {
    if text == "off" {
        return Some(RateLimit::Off);
    }
    let mut words = text.split_whitespace();
    let (permits, per) = words.next()?.split_once('/')?;
    let permits = count(permits)?;
    let per = match per {
        "s" => SECOND,
        "min" => MINUTE,
        _ => return None,
    };
    let burst = match words.next() {
        None => permits,
        Some("burst") => count(words.next()?)?,
        Some(_) => return None,
    };
    words
        .next()
        .is_none()
        .then_some(RateLimit::Rate(Rate { permits, per, burst }))
}

fn count(text: &str) -> Option<u32> {
    let digits_only = text.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = text.parse().ok()?;
    (digits_only && (1..=PERMITS_MAX).contains(&number)).then_some(number)
}

impl fmt::Display for RateLimit {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_they_are_written() {
        let check = |text: &str, permits, seconds, burst| {
            let limit: RateLimit = text.parse().expect("is a rate");
            assert_eq!(
                limit,
                RateLimit::Rate(Rate {
                    permits,
                    per: Duration::from_secs(seconds),
                    burst
                }),
                "{text}"
            );
        };
        check("50/s burst 100", 50, 1, 100);
        check("30/min burst 5", 30, 60, 5);
        check("2/s", 2, 1, 2);
        check("  1/s   burst  3 ", 1, 1, 3);
        assert_eq!("off".parse(), Ok(RateLimit::Off));
    }

    #[test]
    fn whatever_is_no_rate_is_refused() {
        for text in [
            "",
            "on",
            "OFF",
            "50",
            "50/",
            "/s",
            "0/s",
            "-1/s",
            "+1/s",
            "1.5/s",
            "5/h",
            "5/s burst",
            "5/s burst 0",
            "5/s burst x",
            "5/s burst 3 4",
            "5/s 3",
            "9999999/s",
            "5 /s",
            "99999999999/s",
        ] {
            assert_eq!(text.parse::<RateLimit>(), Err(EXPECTED), "{text:?}");
        }
    }

    #[test]
    fn written_rate_reads_back() {
        for text in ["50/s burst 100", "30/min burst 5", "off"] {
            assert_eq!(text.parse::<RateLimit>().expect("is a rate").to_string(), text);
        }
    }
}
