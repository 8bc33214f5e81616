//! When units may have come back into a sale.

use std::collections::BTreeSet;

use seckill_sale::ActivityId;

use super::Weather;

impl Weather {
    /// Units may come back into the sale from now on.
    pub(crate) fn begin_return(&self, activity: ActivityId) {
        let mut conditions = self.0.lock();
        *conditions.returning.entry(activity).or_default() += 1;
        let step = conditions.step;
        conditions.returned_at.insert(activity, step);
    }

    /// Whatever came back has come back.
    pub(crate) fn end_return(&self, activity: ActivityId) {
        let mut conditions = self.0.lock();
        if let Some(count) = conditions.returning.get_mut(&activity) {
            *count -= 1;
        }
        let step = conditions.step;
        conditions.returned_at.insert(activity, step);
    }

    /// The process died; what was about to come back has come back or never does.
    pub(crate) fn end_all_returns(&self) {
        let mut conditions = self.0.lock();
        let step = conditions.step;
        let open: BTreeSet<_> = std::mem::take(&mut conditions.returning)
            .into_iter()
            .filter(|(_, count)| *count != 0)
            .collect();
        for (activity, _) in open {
            conditions.returned_at.insert(activity, step);
        }
    }

    /// The last step at which units may have come back into the sale; the present one while some are about to.
    pub(crate) fn returned_at(&self, activity: i64) -> Option<u64> {
        let conditions = self.0.lock();
        let activity = ActivityId::new(activity.unsigned_abs()).expect("a sale that exists");
        let open = conditions.returning.get(&activity).is_some_and(|count| *count != 0);
        let last = conditions.returned_at.get(&activity).copied();
        if open { Some(conditions.step) } else { last }
    }
}
