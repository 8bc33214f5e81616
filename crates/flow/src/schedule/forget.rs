//! Which closed sales the store goes on knowing.

use seckill_sale::{Activity, EpochMs};

use super::{Part, Scheduler, Ticked};
use crate::Operator;

impl Scheduler {
    /// Has the store drop closed sales that ended long ago, and those of more than it keeps; the ledger still knows their buyers.
    pub(super) async fn forget(&self, operator: &Operator, activities: &[Activity], now: EpochMs, ticked: &mut Ticked) {
        let is_kept = |activity: &&Activity| operator.has_state(activity.id) && self.closed.contains(&activity.id);
        let mut kept: Vec<&Activity> = activities.iter().filter(is_kept).collect();
        // One that was closed by hand has its end still before it: among equals the older sale goes first.
        kept.sort_by_key(|activity| (activity.window.ends_at, activity.id));
        let too_many = kept.len().saturating_sub(self.settings.closed_kept_max);
        for (index, activity) in kept.into_iter().enumerate() {
            let is_old = activity.window.ends_at.plus(self.settings.forget_after_ms) <= now;
            if !is_old && too_many <= index {
                continue;
            }
            let forgotten = ticked.note(Part::Forget, Some(activity.id), operator.forget(activity.id).await);
            if forgotten == Some(true) {
                ticked.forgotten.push(activity.id);
            }
        }
    }
}
