//! Audits.

use std::time::{Duration, Instant};

use super::Admin;
use crate::audit::Audit;
use crate::http::get;
use crate::process::LOOK_EVERY;
use crate::{Error, Result};

/// How often a sale is audited while something is queued.
const AUDIT_EVERY: Duration = Duration::from_secs(5);

impl Admin {
    /// The conservation equation of an activity.
    ///
    /// # Errors
    /// [`Error::Answer`] where the server refuses, [`Error::Malformed`] where members are missing.
    pub fn audit(&self, activity_id: u64) -> Result<Audit> {
        let path = format!("/admin/api/activities/{activity_id}/audit");
        let data = get(self.address, &path, Some(&self.token))?.expect(200, "audit")?;
        serde_json::from_value(data).map_err(|_| Error::Malformed {
            what: format!("GET {path}"),
        })
    }

    /// Waits until nothing is queued and the audit could be read stably; the audit. An audit counts every row of the sale, so the
    /// queue's depth is looked at first (watching must not cost the server what is measured), and the audit asked anyway once in a while:
    /// other sales may be in the queue.
    ///
    /// # Errors
    /// [`Error::TooLate`] when `limit` passes first.
    pub fn wait_settled(&self, activity_id: u64, limit: Duration) -> Result<Audit> {
        let end = Instant::now() + limit;
        let mut audited_at = Instant::now();
        loop {
            let empty = self
                .metrics()?
                .sum("seckill_queue_depth")
                .is_none_or(|depth| depth == 0.0);
            if empty || AUDIT_EVERY <= audited_at.elapsed() {
                audited_at = Instant::now();
                let audit = self.audit_now(activity_id)?;
                if let Some(audit) = audit.filter(|audit| audit.queued == 0) {
                    return Ok(audit);
                }
            }
            if end <= Instant::now() {
                return Err(Error::TooLate {
                    what: format!("activity {activity_id} was not settled"),
                    limit_s: limit.as_secs(),
                });
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits until the audit could be read stably, whatever is queued; the audit. For processes of which none settles.
    ///
    /// # Errors
    /// [`Error::TooLate`] when `limit` passes first.
    pub fn wait_balanced(&self, activity_id: u64, limit: Duration) -> Result<Audit> {
        let end = Instant::now() + limit;
        loop {
            if let Some(audit) = self.audit_now(activity_id)? {
                return Ok(audit);
            }
            if end <= Instant::now() {
                return Err(Error::TooLate {
                    what: format!("activity {activity_id} could not be audited"),
                    limit_s: limit.as_secs(),
                });
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// The audit, where it can be read stably now. A store that does not answer in time may in a moment.
    fn audit_now(&self, activity_id: u64) -> Result<Option<Audit>> {
        match self.audit(activity_id) {
            Ok(audit) => Ok(audit.balanced.is_some().then_some(audit)),
            Err(Error::Answer { status: 503, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
