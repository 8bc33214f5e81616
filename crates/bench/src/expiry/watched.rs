//! Watches orders expire.

use std::time::{Duration, Instant};

use crate::audit::Audit;
use crate::process::{LOOK_EVERY, Usage};
use crate::server::Server;
use crate::{Error, Result};

/// How often the sale is audited meanwhile; an audit counts every row, and watching must not cost the server what is measured.
const AUDIT_EVERY: Duration = Duration::from_millis(500);

/// The measurement has failed when not all have expired after this long.
const EXPIRY_LIMIT: Duration = Duration::from_secs(600);

/// What was seen.
pub(super) struct Watched {
    /// The first audit that found all of them expired, and nothing on its way.
    pub(super) audit: Audit,
    /// When it was answered: an audit may have waited for the database.
    pub(super) took: Duration,
    /// The largest resident memory meanwhile.
    pub(super) rss_peak_bytes: u64,
}

/// Looks until `units` have expired; `before` is what the server had used until then.
///
/// # Errors
/// [`Error::TooLate`] when they don't in time.
pub(super) fn watch(server: &Server, before: Usage, activity_id: u64, units: u64) -> Result<Watched> {
    let began = Instant::now();
    let (mut readings_max, mut audits) = (before.rss_bytes, 0);
    loop {
        let usage = server.usage()?;
        readings_max = readings_max.max(usage.rss_bytes);
        if AUDIT_EVERY * audits <= began.elapsed() {
            audits += 1;
            let audit = server.target().admin.audit(activity_id)?;
            let took = began.elapsed();
            if audit.orders_cancelled == units && audit.balanced.is_some() {
                let rss_peak_bytes = peak(before, server.usage()?, readings_max);
                return Ok(Watched {
                    audit,
                    took,
                    rss_peak_bytes,
                });
            }
        }
        if EXPIRY_LIMIT <= began.elapsed() {
            return Err(Error::TooLate {
                what: "the orders did not expire".to_owned(),
                limit_s: EXPIRY_LIMIT.as_secs(),
            });
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The system's own peak where it rose meanwhile; else it is from an earlier time, and the largest reading counts.
fn peak(before: Usage, after: Usage, readings_max: u64) -> u64 {
    if before.rss_peak_bytes < after.rss_peak_bytes {
        after.rss_peak_bytes
    } else {
        readings_max.max(after.rss_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_of_an_earlier_time_does_not_count() {
        let usage = |rss_bytes, rss_peak_bytes| Usage {
            cpu_s: 0.0,
            rss_bytes,
            rss_peak_bytes,
        };
        assert_eq!(peak(usage(5, 9), usage(6, 9), 7), 7);
        assert_eq!(peak(usage(5, 9), usage(6, 12), 7), 12);
        assert_eq!(peak(usage(5, 9), usage(8, 9), 7), 8);
    }
}
