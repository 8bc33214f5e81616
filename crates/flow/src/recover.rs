//! What an operator runs after a loss: a ledger restored from an older copy, or a store that lost its state.
//!
//! It first says what it will do. Tickets that the ledger lost are queued again and become the same orders, since an order's number comes
//! from its ticket. A sale that only the store knows can't be rebuilt: its product, price and window were in the lost rows.
//! It is meant for a quiet house: no buyers, no workers.

use std::fmt;

use seckill_sale::{Activity, ActivityId, Status};
use serde::Serialize;

use crate::reconcile::{DifferenceKind, LeftMay, Report};
use crate::{Error, Operator};

/// One thing that recovery will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum PlannedStep {
    /// The store has no state: it is built from the ledger.
    Rebuild {
        /// The sale.
        activity: ActivityId,
    },
    /// Store and ledger differ: the store is brought in line.
    Realign {
        /// The sale.
        activity: ActivityId,
        /// Tickets that the ledger lost, queued again.
        queued_again: usize,
        /// Other differences that are put right.
        repaired: usize,
        /// Differences that a person has to look at.
        by_hand: usize,
        /// Whether the units left are counted anew.
        left_changes: bool,
    },
    /// The store knows the sale, the ledger does not: nothing can be done here.
    Foreign {
        /// The sale.
        activity: ActivityId,
    },
}

impl fmt::Display for PlannedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rebuild { activity } => {
                write!(
                    f,
                    "activity {activity}: the store has no state; it is built from the ledger"
                )
            }
            Self::Realign {
                activity,
                queued_again,
                repaired,
                by_hand,
                left_changes,
            } => {
                write!(
                    f,
                    "activity {activity}: {queued_again} tickets are queued again, {repaired} differences repaired, {by_hand} are left to a person"
                )?;
                if *left_changes {
                    write!(f, "; the units left are counted anew from the ledger")?;
                }
                Ok(())
            }
            Self::Foreign { activity } => write!(
                f,
                "activity {activity}: the store knows it, the ledger does not; restore a copy of the database that has it, nothing is changed"
            ),
        }
    }
}

/// A step that was carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recovered {
    /// What was planned.
    pub step: PlannedStep,
    /// What was found and put right, where store and ledger were compared.
    pub report: Option<Report>,
    /// Units left now, where a state was built.
    pub left: Option<u64>,
}

impl Operator {
    /// Says what [`Operator::recover`] would do; nothing where all is well. Only reads.
    ///
    /// # Errors
    /// A layer that can't be reached; [`seckill_ledger::Error::NotFound`] where neither knows `only`.
    pub async fn recovery_plan(&self, only: Option<ActivityId>) -> Result<Vec<PlannedStep>, Error> {
        let mut steps = Vec::new();
        let with_state = self.layers.stock.activities().await?;
        for &id in with_state.iter().filter(|&&id| only.is_none_or(|only| only == id)) {
            match self.layers.ledger.activity(id).await {
                Ok(_) => steps.extend(self.plan_realign(id).await?),
                Err(seckill_ledger::Error::NotFound(_)) => steps.push(PlannedStep::Foreign { activity: id }),
                Err(error) => return Err(error.into()),
            }
        }
        let without_state = match only {
            Some(id) if with_state.contains(&id) => Vec::new(),
            Some(id) => vec![self.layers.ledger.activity(id).await?],
            None => self.refresh_catalogue().await?,
        };
        for activity in without_state
            .iter()
            .filter(|activity| !with_state.contains(&activity.id))
        {
            if self.needs_state(activity, only.is_some()).await? {
                steps.push(PlannedStep::Rebuild { activity: activity.id });
            }
        }
        Ok(steps)
    }

    /// Whether a sale without a state needs one: it sells or will sell, or dead letters of it may be retried.
    async fn needs_state(&self, activity: &Activity, is_named: bool) -> Result<bool, Error> {
        if activity.status == Status::Closed || activity.status == Status::Draft {
            return Ok(false);
        }
        if self.layers.stock.now() < activity.window.ends_at {
            return Ok(is_named || activity.epoch.is_some());
        }
        Ok(self.layers.ledger.tally(activity.id).await?.dead != 0)
    }

    async fn plan_realign(&self, id: ActivityId) -> Result<Option<PlannedStep>, Error> {
        let found = self.find(id).await?;
        let differences = found.differences();
        if differences.is_empty() {
            return Ok(None);
        }
        let count = |wanted: fn(DifferenceKind) -> bool| differences.iter().filter(|d| wanted(d.kind)).count();
        let by_hand = count(DifferenceKind::is_by_hand);
        let queued_again = count(|kind| kind == DifferenceKind::RecordMissing);
        let left_changes = 0 < count(|kind| matches!(kind, DifferenceKind::LeftTooHigh | DifferenceKind::LeftTooLow));
        Ok(Some(PlannedStep::Realign {
            activity: id,
            queued_again,
            repaired: differences.len() - by_hand - queued_again - usize::from(left_changes),
            by_hand,
            left_changes,
        }))
    }

    /// Carries out what [`Operator::recovery_plan`] says. A second run finds nothing that it could still put right.
    ///
    /// # Errors
    /// A layer that can't be reached; [`Error::Unstable`] where workers settle meanwhile. What was put right before stays so.
    pub async fn recover(&self, only: Option<ActivityId>) -> Result<Vec<Recovered>, Error> {
        let mut recovered = Vec::new();
        for step in self.recovery_plan(only).await? {
            tracing::warn!(%step, "recovery");
            let (report, left) = match &step {
                PlannedStep::Foreign { .. } => (None, None),
                PlannedStep::Rebuild { activity } => {
                    let preheated = self.rebuild(*activity, self.own_context()).await?;
                    (None, Some(preheated.left))
                }
                PlannedStep::Realign { activity, .. } => (Some(self.realign_all(*activity).await?), None),
            };
            recovered.push(Recovered { step, report, left });
        }
        Ok(recovered)
    }

    /// Brings one sale in line, however many tickets were lost; gives the last report.
    async fn realign_all(&self, id: ActivityId) -> Result<Report, Error> {
        loop {
            let report = self.reconcile_with(id, LeftMay::Change).await?;
            let has_progress = report.differences.iter().any(|difference| difference.fixed);
            if !report.truncated || !has_progress {
                return Ok(report);
            }
        }
    }
}
