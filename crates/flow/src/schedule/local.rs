//! The bridge from the cron library to the time library.

use std::cmp::Ordering;

use croner::{CivilDate, CivilDateTime, CivilTime, CronDateTime, Resolution, Weekday, errors::CronError};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, ZonedDateTime};
use seckill_sale::EpochMs;

/// A moment with its zone, as the cron library wants to see it.
#[derive(Clone)]
pub(super) struct Local(ZonedDateTime);

impl Local {
    /// `moment` in `zone`; none where the time library can't say it.
    pub(super) fn new(moment: EpochMs, zone: TimeZone) -> Option<Self> {
        let timestamp = Timestamp::from_millisecond(moment.0).ok()?;
        Some(Self(timestamp.to_zoned_datetime(zone)))
    }

    /// The moment, in whole seconds: starts have no milliseconds.
    pub(super) fn moment(&self) -> EpochMs {
        EpochMs(self.0.timestamp().as_second() * 1000)
    }
}

impl CronDateTime for Local {
    fn to_civil(&self) -> CivilDateTime {
        let local = self.0.datetime();
        let part = |value: i8| u32::from(value.unsigned_abs());
        CivilDateTime::new(
            CivilDate::from_parts_unchecked(i32::from(local.year()), part(local.month()), part(local.day())),
            CivilTime::from_parts_unchecked(part(local.hour()), part(local.minute()), part(local.second())),
        )
    }

    fn civil_weekday(&self) -> Weekday {
        Weekday::from_days_from_sunday(u32::from(self.0.weekday().to_sunday_zero_offset().unsigned_abs()))
    }

    fn resolve_civil(&self, civil: CivilDateTime) -> Result<Resolution<Self>, CronError> {
        let part = |value: u32| i8::try_from(value).map_err(|_| CronError::InvalidDate);
        let year = i16::try_from(civil.year()).map_err(|_| CronError::InvalidDate)?;
        let (month, day) = (part(civil.month())?, part(civil.day())?);
        let (hour, minute, second) = (part(civil.hour())?, part(civil.minute())?, part(civil.second())?);
        let local = DateTime::new(year, month, day, hour, minute, second, 0).map_err(|_| CronError::InvalidDate)?;
        let resolved = self.0.time_zone().to_ambiguous_zoned_datetime(local);
        let invalid = |_| CronError::InvalidTime;
        Ok(match resolved.offset() {
            AmbiguousOffset::Unambiguous { .. } => Resolution::Single(Self(resolved.unambiguous().map_err(invalid)?)),
            AmbiguousOffset::Fold { .. } => Resolution::Ambiguous(
                Self(resolved.clone().earlier().map_err(invalid)?),
                Self(resolved.later().map_err(invalid)?),
            ),
            AmbiguousOffset::Gap { .. } => Resolution::Gap,
        })
    }

    fn checked_add_seconds(&self, seconds: i64) -> Option<Self> {
        self.0.checked_add(SignedDuration::from_secs(seconds)).ok().map(Self)
    }

    fn cmp_instant(&self, other: &Self) -> Ordering {
        self.0.timestamp().cmp(&other.0.timestamp())
    }
}
