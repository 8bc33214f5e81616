//! When to come again: never all at the same moment.

use seckill_sale::{EpochMs, Refusal};

/// Wait that is suggested where the refusal knows none: overload passes within a second or two.
const OVERLOAD_MS: u64 = 1_000;
/// Wait that is suggested while an operator holds the sale.
const PAUSE_MS: u64 = 5_000;
/// Waits are spread over at most so many seconds more: enough that a crowd does not come back in one moment, too little to be late for a sale.
const SPREAD_S_MAX: u64 = 2;

/// Milliseconds after which asking again makes sense; none where it never does.
#[must_use]
pub fn retry_after_ms(refusal: &Refusal, now: EpochMs) -> Option<u64> {
    let until = |at: EpochMs| u64::try_from(at.since(now)).unwrap_or(0);
    match refusal {
        Refusal::LimitedByIp { retry_after_ms, .. } | Refusal::Limited { retry_after_ms, .. } => Some(*retry_after_ms),
        Refusal::NotStarted { starts_at } => Some(until(*starts_at)),
        Refusal::Paused { resumes_at } => Some(resumes_at.map_or(PAUSE_MS, until)),
        Refusal::BacklogFull | Refusal::NotReady(_) | Refusal::Busy | Refusal::Late | Refusal::OutcomeUnknown => {
            Some(OVERLOAD_MS)
        }
        Refusal::Unauthenticated
        | Refusal::Malformed { .. }
        | Refusal::UnknownActivity
        | Refusal::QuantityAboveLimit
        | Refusal::Blocked
        | Refusal::NotEligible
        | Refusal::Ended
        | Refusal::ChallengeFailed
        | Refusal::KeyReused
        | Refusal::AlreadyTook(_)
        | Refusal::SoldOut => None,
    }
}

/// Whole seconds for the `Retry-After` header: at least 1, not below the wait, and spread by half of it (at most 2 s) so that those who
/// were refused together do not come back together.
#[must_use]
pub const fn retry_after_s(retry_after_ms: u64, random: u64) -> u64 {
    let whole = retry_after_ms.div_ceil(1000);
    let least = if whole < 1 { 1 } else { whole };
    let half = least.div_ceil(2);
    let spread = if SPREAD_S_MAX < half { SPREAD_S_MAX } else { half };
    least.saturating_add(random % (spread + 1))
}

#[cfg(test)]
mod tests {
    use seckill_sale::Quota;

    use super::*;

    #[test]
    fn seconds_are_at_least_the_wait_and_spread() {
        let range = |ms| {
            let all = (0..1000).map(|random| retry_after_s(ms, random));
            (all.clone().min().expect("not empty"), all.max().expect("not empty"))
        };
        assert_eq!(range(0), (1, 2));
        assert_eq!(range(1000), (1, 2));
        assert_eq!(range(1001), (2, 3));
        assert_eq!(range(10_000), (10, 12));
        assert_eq!(range(3_600_000), (3600, 3602));
        assert_eq!(
            retry_after_s(u64::MAX, u64::MAX),
            u64::MAX.div_ceil(1000),
            "no overflow"
        );
    }

    #[test]
    fn every_503_and_429_says_when() {
        let refusals = [
            Refusal::LimitedByIp {
                retry_after_ms: 7,
                quota: Quota { burst: 1, window_s: 1 },
            },
            Refusal::Paused { resumes_at: None },
            Refusal::Paused {
                resumes_at: Some(EpochMs(3)),
            },
            Refusal::BacklogFull,
            Refusal::Busy,
            Refusal::Late,
            Refusal::OutcomeUnknown,
            Refusal::NotStarted { starts_at: EpochMs(9) },
        ];
        for refusal in refusals {
            assert!(retry_after_ms(&refusal, EpochMs(5)).is_some(), "{refusal:?}");
        }
        assert_eq!(retry_after_ms(&Refusal::SoldOut, EpochMs(0)), None);
    }
}
