//! Moments as people read them: RFC 3339 with milliseconds, in UTC.

use jiff::Timestamp;
use seckill_sale::EpochMs;

/// `2026-11-11T00:00:00.000Z`. A moment that no calendar has is the nearest one it has.
pub fn rfc3339(at: EpochMs) -> String {
    let nearest = if at.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
    let timestamp = Timestamp::from_millisecond(at.0).unwrap_or(nearest);
    format!("{timestamp:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_always_stand_there() {
        assert_eq!(rfc3339(EpochMs(1_794_355_200_000)), "2026-11-11T00:00:00.000Z");
        assert_eq!(rfc3339(EpochMs(1_794_355_200_007)), "2026-11-11T00:00:00.007Z");
    }

    #[test]
    fn moments_beyond_the_calendar_do_not_panic() {
        assert!(rfc3339(EpochMs(i64::MAX)).starts_with("9999-"));
        assert!(rfc3339(EpochMs(i64::MIN)).starts_with('-'));
    }
}
