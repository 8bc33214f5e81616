//! States that a store has lost, or doubts.

use seckill_sale::Activity;

use super::{Part, Scheduler, Ticked};
use crate::heal::Healed;

impl Scheduler {
    /// Sees to it that the store's state can be used; says whether there is none.
    pub(super) async fn heal(&self, activity: &Activity, ticked: &mut Ticked) -> bool {
        let id = activity.id;
        match ticked.note(Part::Healing, Some(id), self.operator.heal(activity).await) {
            Some(healed @ (Healed::Done | Healed::Built)) => {
                ticked.healed.push(id);
                if healed == Healed::Built {
                    ticked.preheated.push(id);
                }
                false
            }
            healed => healed == Some(Healed::Absent),
        }
    }
}
