//! When the rounds of a recurring sale start: a cron expression of five fields in a time zone.
//!
//! Where clocks are put forward over a start, the round starts at the moment they jump; where they are put back, once. The search itself is
//! the cron library's.

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::tz::TimeZone;
use seckill_sale::EpochMs;

use super::local::Local;

/// Why an expression or a time zone can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not a cron expression of five fields.
    #[error("not a cron expression of five fields (minute hour day month weekday): {0}")]
    Expression(String),
    /// No such time zone.
    #[error("no time zone is called {0:?}; it is a name such as Asia/Shanghai")]
    TimeZone(String),
}

/// The starts of a recurring sale.
#[derive(Debug, Clone)]
pub struct Occurrences {
    cron: Cron,
    zone: TimeZone,
}

impl Occurrences {
    /// Reads an expression such as `0 20 * * *` and a zone such as `Asia/Shanghai`.
    ///
    /// # Errors
    /// Says which of both can't be read.
    pub fn new(cron: &str, time_zone: &str) -> Result<Self, Error> {
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .build();
        let cron = parser
            .parse(cron)
            .map_err(|error| Error::Expression(error.to_string()))?;
        let zone = TimeZone::get(time_zone).map_err(|_| Error::TimeZone(time_zone.to_owned()))?;
        Ok(Self { cron, zone })
    }

    /// The first start after `moment`; none where there never is one.
    #[must_use]
    pub fn after(&self, moment: EpochMs) -> Option<EpochMs> {
        let from = self.local(moment)?;
        let found = self.cron.find_next_occurrence(&from, false).ok()?;
        Some(found.moment()).filter(|&found| moment < found)
    }

    /// The last start at or before `moment`.
    #[must_use]
    pub fn at_or_before(&self, moment: EpochMs) -> Option<EpochMs> {
        let from = self.local(moment)?;
        let found = self.cron.find_previous_occurrence(&from, true).ok()?;
        Some(found.moment()).filter(|&found| found <= moment)
    }

    fn local(&self, moment: EpochMs) -> Option<Local> {
        Local::new(moment, self.zone.clone())
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn at(text: &str) -> EpochMs {
        EpochMs(text.parse::<Timestamp>().expect("a moment").as_millisecond())
    }

    fn check(cron: &str, zone: &str, from: &str, next: &str) {
        let occurrences = Occurrences::new(cron, zone).expect("readable");
        assert_eq!(
            occurrences.after(at(from)),
            Some(at(next)),
            "{cron} in {zone} after {from}"
        );
    }

    #[test]
    fn starts_are_wall_clock_times_of_the_zone() {
        check(
            "0 20 * * *",
            "Asia/Shanghai",
            "2026-03-01T11:59:59.999Z",
            "2026-03-01T12:00:00Z",
        );
        check(
            "0 20 * * *",
            "Asia/Shanghai",
            "2026-03-01T12:00:00Z",
            "2026-03-02T12:00:00Z",
        );
        check(
            "0 20 * * FRI",
            "Asia/Shanghai",
            "2026-03-01T00:00:00Z",
            "2026-03-06T12:00:00Z",
        );
        check(
            "0 20 * * *",
            "Europe/Berlin",
            "2026-03-28T12:00:00Z",
            "2026-03-28T19:00:00Z",
        );
        check(
            "0 20 * * *",
            "Europe/Berlin",
            "2026-03-29T12:00:00Z",
            "2026-03-29T18:00:00Z",
        );
    }

    #[test]
    fn start_in_the_skipped_hour_is_the_jump_and_one_in_the_repeated_hour_is_once() {
        check(
            "30 2 * * *",
            "Europe/Berlin",
            "2026-03-28T12:00:00Z",
            "2026-03-29T01:00:00Z",
        );
        let berlin = Occurrences::new("30 2 * * *", "Europe/Berlin").expect("readable");
        let first = berlin.after(at("2026-10-24T12:00:00Z")).expect("found");
        assert_eq!(first, at("2026-10-25T00:30:00Z"));
        assert_eq!(berlin.after(first), Some(at("2026-10-26T01:30:00Z")));
    }

    #[test]
    fn last_start_counts_its_own_moment() {
        let daily = Occurrences::new("0 20 * * *", "Asia/Shanghai").expect("readable");
        assert_eq!(
            daily.at_or_before(at("2026-03-01T12:00:00Z")),
            Some(at("2026-03-01T12:00:00Z"))
        );
        assert_eq!(
            daily.at_or_before(at("2026-03-01T12:00:00.001Z")),
            Some(at("2026-03-01T12:00:00Z"))
        );
        assert_eq!(
            daily.at_or_before(at("2026-03-01T11:59:59.999Z")),
            Some(at("2026-02-28T12:00:00Z"))
        );
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for bad in ["", "* * * *", "* * * * * *", "61 * * * *", "a b c d e"] {
            let error = Occurrences::new(bad, "Asia/Shanghai").expect_err(bad);
            assert!(matches!(error, Error::Expression(_)), "{bad:?}: {error}");
        }
        let error = Occurrences::new("0 20 * * *", "Mars/Olympus").expect_err("no such zone");
        assert_eq!(error, Error::TimeZone("Mars/Olympus".to_owned()));
    }
}
