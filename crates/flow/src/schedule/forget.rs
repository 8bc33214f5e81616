//! Which closed sales the store goes on knowing.

use seckill_sale::{Activity, ActivityId, EpochMs};

use super::{Part, Scheduler, Ticked};
use crate::Operator;

/// Largest offset, in hundredths of the time after which a sale is forgotten.
const OFFSET_PERCENT_MAX: u64 = 5;

impl Scheduler {
    /// Has the store drop closed sales that ended long ago, and those of more than it keeps; the ledger still knows their buyers.
    pub(super) async fn forget(&self, operator: &Operator, activities: &[Activity], now: EpochMs, ticked: &mut Ticked) {
        let is_kept = |activity: &&Activity| operator.has_state(activity.id) && self.closed.contains(&activity.id);
        let mut kept: Vec<&Activity> = activities.iter().filter(is_kept).collect();
        // One that was closed by hand has its end still before it: among equals the older sale goes first.
        kept.sort_by_key(|activity| (activity.window.ends_at, activity.id));
        let too_many = kept.len().saturating_sub(self.settings.closed_kept_max);
        for (index, activity) in kept.into_iter().enumerate() {
            let after_ms = self.settings.forget_after_ms + offset_ms(activity.id, self.settings.forget_after_ms);
            let is_old = activity.window.ends_at.plus(after_ms) <= now;
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

/// How much later than others a sale is forgotten, in milliseconds: by some hundredths of `after_ms`, so that many that end together don't
/// all have their keys deleted, and their books counted, in the same moment. The same for whoever schedules.
fn offset_ms(id: ActivityId, after_ms: i64) -> i64 {
    // Spreads neighbouring numbers; its upper half is the better mixed one.
    let mixed = id.get().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let most_ms = after_ms.unsigned_abs() * OFFSET_PERCENT_MAX / 100;
    (mixed % most_ms.max(1)).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sales_that_end_together_are_forgotten_one_after_the_other_and_none_too_early() {
        let hour_ms = 3_600_000;
        let mut offsets: Vec<_> = (1..=100)
            .map(|id| offset_ms(ActivityId::new(id).unwrap(), hour_ms))
            .collect();
        assert!(
            offsets.iter().all(|offset| (0..hour_ms / 20).contains(offset)),
            "{offsets:?}"
        );
        let minutes: std::collections::HashSet<_> = offsets.iter().map(|offset| offset / 60_000).collect();
        assert_eq!(minutes.len(), 3, "all of the time is used");
        offsets.sort_unstable();
        offsets.dedup();
        assert!(90 < offsets.len(), "{} moments", offsets.len());
        assert_eq!(offset_ms(ActivityId::new(1).unwrap(), 0), 0);
    }
}
