//! First states that somebody else may be building.
//!
//! Whoever preheats a sale draws its epoch from the ledger, and begins in the store a few readings later. In between the sale looks like one
//! whose state was lost, and to heal it would take it from its builder, and keep buyers out for longer than he does. So a first state of
//! which this process knows nothing is given as much time as a builder may be silent. One that was seen here is lost at once, and what this
//! process has begun itself and could not end is begun anew at once.

use std::collections::HashMap;

use seckill_sale::{Activity, ActivityId, Epoch, EpochMs};
use seckill_stock::Condition;

/// As long as a builder may be silent, in milliseconds.
const WAIT_MS: i64 = 3_000;

/// Sales whose first epoch was drawn and that have no state, each with the moment of the first look.
#[derive(Default)]
pub(super) struct Coming(HashMap<ActivityId, EpochMs>);

impl Coming {
    /// Whether a sale in this condition may have a builder who has not begun in the store yet. `is_known`: this process has seen a state of it, or
    /// drawn the epoch itself.
    pub(super) fn may_come(
        &mut self,
        activity: &Activity,
        condition: &Condition,
        is_known: bool,
        now: EpochMs,
    ) -> bool {
        let is_absent = *condition == Condition::Absent { may_be_lost: true };
        if !is_absent || is_known || activity.epoch != Some(Epoch::FIRST) {
            self.0.remove(&activity.id);
            return false;
        }
        let since = *self.0.entry(activity.id).or_insert(now);
        // A clock that went back prolongs nothing.
        (since..since.plus(WAIT_MS)).contains(&now)
    }

    pub(super) fn retain(&mut self, is_there: impl Fn(&ActivityId) -> bool) {
        self.0.retain(|id, _| is_there(id));
    }
}
