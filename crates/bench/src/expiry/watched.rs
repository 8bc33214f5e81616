//! Watches orders expire.

use std::time::{Duration, Instant};

use crate::audit::Audit;
use crate::process::LOOK_EVERY;
use crate::server::Server;
use crate::{Error, Result};

/// How often the sale is audited meanwhile; an audit counts every row, and watching must not cost the server what is measured.
const AUDIT_EVERY: Duration = Duration::from_millis(500);

/// What was seen.
pub(super) struct Watched {
    /// The first audit that found all of them expired, and nothing on its way.
    pub(super) audit: Audit,
    /// When it was asked for.
    pub(super) took: Duration,
    /// The largest of the readings.
    pub(super) rss_peak_bytes: u64,
}

/// Looks until `units` have expired.
///
/// # Errors
/// [`Error::TooLate`] when `limit` passes first.
pub(super) fn watch(server: &Server, activity_id: u64, units: u64, limit: Duration) -> Result<Watched> {
    let began = Instant::now();
    let (mut rss_peak_bytes, mut audits) = (0, 0);
    loop {
        rss_peak_bytes = rss_peak_bytes.max(server.usage()?.rss_bytes);
        let took = began.elapsed();
        if AUDIT_EVERY * audits <= took {
            audits += 1;
            let audit = server.target().admin.audit(activity_id)?;
            if audit.orders_cancelled == units && audit.balanced.is_some() {
                return Ok(Watched {
                    audit,
                    took,
                    rss_peak_bytes,
                });
            }
        }
        if limit <= took {
            return Err(Error::TooLate {
                what: "the orders did not expire".to_owned(),
                limit_s: limit.as_secs(),
            });
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
