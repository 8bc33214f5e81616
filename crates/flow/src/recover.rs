//! What an operator runs after a loss: a ledger restored from an older copy, or a store that lost its state.
//!
//! It first says what it will do. Tickets that the ledger lost are queued again and become the same orders, since an order's number comes
//! from its ticket. A sale that only the store knows can't be rebuilt: its product, price and window were in the lost rows.
//! It is meant for a quiet house: no buyers, no workers.

use seckill_sale::{Activity, ActivityId, Status};
use serde::Serialize;

use crate::apart::{needs_state, never_issued, tell_when_created};
use crate::reconcile::{DifferenceKind, LeftMay, Report};
use crate::{Error, Operator, PlannedStep};

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
        tell_when_created(&*self.layers.stock, &*self.layers.ledger, &with_state).await?;
        for &id in with_state.iter().filter(|&&id| only.is_none_or(|only| only == id)) {
            match self.layers.ledger.activity(id).await {
                Ok(_) if !self.may_have_usable_state(id).await? => steps.push(PlannedStep::Rebuild { activity: id }),
                Ok(_) => match never_issued(&*self.layers.stock, &*self.layers.ledger, id).await? {
                    Some(_) => steps.push(self.plan_renew(id).await?),
                    None => steps.extend(self.plan_realign(id).await?),
                },
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
            let is_named = only.is_some() && self.may_open(activity);
            if is_named || needs_state(&*self.layers.stock, &*self.layers.ledger, activity).await? {
                steps.push(PlannedStep::Rebuild { activity: activity.id });
            }
        }
        Ok(steps)
    }

    /// Whether an operator who names the sale gets a state for it, also where it never had one.
    fn may_open(&self, activity: &Activity) -> bool {
        let is_over = activity.window.ends_at <= self.layers.stock.now();
        !is_over && !matches!(activity.status, Status::Closed | Status::Draft)
    }

    async fn plan_renew(&self, activity: ActivityId) -> Result<PlannedStep, Error> {
        let taken = self.would_take_over(activity).await?;
        Ok(PlannedStep::Renew {
            activity,
            kept: taken.kept.len(),
            lost: taken.lost_names(activity),
        })
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
                PlannedStep::Renew { activity, .. } => {
                    let renewed = self.renew(*activity).await?;
                    (Some(self.realign_all(*activity).await?), Some(renewed.left))
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
