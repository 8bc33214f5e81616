//! Store, queue and ledger side by side, buyer by buyer: what differs, what it means, and what may be put right while the sale goes on.
//!
//! A repair may finish a ticket, queue it again, apply movements, or lower the units left; never raise them. So it may run while selling:
//! a ticket on its way from worker to ledger to store is no difference, and each suspect is read again on both sides before it is
//! reported. `recover` is the same with permission to raise, for an operator.

mod compare;
mod fix;
mod found;
mod realign;
mod scan;

use seckill_sale::{ActivityId, Ticket, UserId};
use serde::{Serialize, Serializer};

use crate::{Audit, Error, Operator};

pub use compare::DifferenceKind;
pub(crate) use compare::compare;
pub(crate) use realign::LeftMay;

/// Whether a reconciliation may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fix {
    /// It says what it found.
    Nothing,
    /// It puts right what can be put right.
    Differences,
}

/// One thing on which store and ledger differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Whose; none where it concerns the whole sale.
    pub user: Option<UserId>,
    /// Which ticket.
    #[serde(serialize_with = "as_text")]
    pub ticket: Option<Ticket>,
    /// What differs.
    pub kind: DifferenceKind,
    /// What the store has.
    pub store: String,
    /// What the ledger has.
    pub ledger: String,
    /// Whether it was put right by this call.
    pub fixed: bool,
}

fn as_text<S: Serializer>(ticket: &Option<Ticket>, serializer: S) -> Result<S::Ok, S::Error> {
    match ticket {
        Some(ticket) => serializer.collect_str(ticket),
        None => serializer.serialize_none(),
    }
}

/// What a reconciliation found and did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The differences.
    pub differences: Vec<Difference>,
    /// Whether there are more than [`DIFFERENCES_MAX`]; run it again after these are put right.
    pub truncated: bool,
    /// The books before.
    pub before: Audit,
    /// The books after.
    pub after: Audit,
}

impl Report {
    /// Whether anything is left to be put right.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        !self.truncated
            && self.differences.iter().all(|difference| difference.fixed)
            && self.after.balanced != Some(false)
    }
}

/// Longest list of differences kept in memory and reported.
pub const DIFFERENCES_MAX: usize = 10_000;

impl Operator {
    /// Compares everything that store and ledger know of an activity. A second run after a fixing one changes nothing; two at once run
    /// one after the other. A sale that the store does not know has nothing to compare: its audit says what there is.
    ///
    /// # Errors
    /// [`seckill_ledger::Error::NotFound`]; a layer that can't be reached. What was put right before stays so.
    pub async fn reconcile(&self, id: ActivityId, fix: Fix) -> Result<Report, Error> {
        match fix {
            Fix::Nothing => self.compare_only(id).await,
            Fix::Differences => self.reconcile_with(id, LeftMay::Fall).await,
        }
    }

    async fn compare_only(&self, id: ActivityId) -> Result<Report, Error> {
        let before = self.audit(id).await?;
        let found = self.find(id).await?;
        let differences = found.differences();
        Ok(Report {
            differences,
            truncated: found.truncated,
            before,
            after: before,
        })
    }

    pub(crate) async fn reconcile_with(&self, id: ActivityId, left_may: LeftMay) -> Result<Report, Error> {
        let _one_at_a_time = self.reconciling.lock().await;
        let before = self.audit(id).await?;
        let found = self.find(id).await?;
        let truncated = found.truncated;
        let differences = self.fix(id, found, left_may).await?;
        for difference in &differences {
            tracing::warn!(
                activity = %id,
                user = difference.user.as_ref().map(UserId::as_str),
                ticket = difference.ticket.map(tracing::field::display),
                kind = ?difference.kind,
                store = difference.store,
                ledger = difference.ledger,
                fixed = difference.fixed,
                "store and ledger differed"
            );
        }
        let after = self.audit(id).await?;
        Ok(Report {
            differences,
            truncated,
            before,
            after,
        })
    }
}
