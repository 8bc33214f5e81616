//! States that a store has lost, or doubts.

use seckill_sale::Activity;

use super::{Part, Scheduler, Ticked};
use crate::heal::Healed;

impl Scheduler {
    /// Sees to it that the store's state can be used; says whether there is none.
    pub(super) async fn heal(&mut self, activity: &Activity, ticked: &mut Ticked) -> bool {
        let id = activity.id;
        let now = self.operator.layers.stock.now();
        let (trials, coming) = (&self.trials, &mut self.coming);
        let (mut condition, mut may_come) = (None, false);
        let is_drawn_here = self.operator.first_drawn.lock().contains(&id);
        let is_known = is_drawn_here || self.operator.layers.stock.last_seen(id).is_some();
        let is_due = |found: &_| {
            condition = Some(Clone::clone(found));
            may_come = coming.may_come(activity, found, is_known, now);
            !may_come && trials.is_due(activity, found, now)
        };
        match self.operator.heal(activity, is_due).await {
            Ok(Healed::Left) if may_come => false,
            Ok(Healed::Left) => {
                let cause = self.trials.cause(id).unwrap_or_default();
                ticked.failed_again(Part::Healing, id, cause);
                false
            }
            Ok(healed) => {
                if healed != Healed::InHand && self.trials.are_over(id) {
                    tracing::info!(activity = %id, "the state of a sale that could not be healed can be used, or is needed no more");
                }
                if matches!(healed, Healed::Done | Healed::Built) {
                    ticked.healed.push(id);
                }
                if healed == Healed::Built {
                    ticked.preheated.push(id);
                }
                healed == Healed::Absent
            }
            Err(error) => {
                if self.trials.failed(activity, condition.as_ref(), &error, now) {
                    ticked.failed(Part::Healing, Some(id), &error);
                } else {
                    ticked.failed_again(Part::Healing, id, &error.to_string());
                }
                false
            }
        }
    }
}
