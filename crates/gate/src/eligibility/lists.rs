//! The lists that are in force on this node, and whom they let in.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use foldhash::fast::RandomState;
use seckill_sale::{Activity, ActivityId, NotReady, Refusal, Status, UserId};

use super::EligibleUsers;

/// The lists in force.
#[derive(Debug, Default)]
pub struct EligibleLists(ArcSwap<HashMap<ActivityId, Arc<EligibleUsers>, RandomState>>);

impl EligibleLists {
    /// The list of a sale.
    #[must_use]
    pub fn of(&self, activity: ActivityId) -> Option<Arc<EligibleUsers>> {
        self.0.load().get(&activity).cloned()
    }

    /// Puts a list in force, whatever its version: a ledger that was restored from a copy has an older one. Whoever reads them sees to it
    /// that they come in the order in which they were read.
    pub fn put(&self, activity: ActivityId, list: &Arc<EligibleUsers>) {
        self.0.rcu(|present| {
            let mut next = HashMap::clone(present);
            next.insert(activity, list.clone());
            next
        });
    }

    /// Forgets the lists of all sales but these.
    pub fn keep(&self, kept: impl Fn(ActivityId) -> bool) {
        if self.0.load().keys().all(|&id| kept(id)) {
            return;
        }
        self.0.rcu(|present| {
            let mut next = HashMap::clone(present);
            next.retain(|&id, _| kept(id));
            next
        });
    }

    /// Whether a user with this level may buy in the sale. A sale whose list has not come yet lets in nobody.
    ///
    /// # Errors
    /// [`Refusal::NotEligible`], [`Refusal::NotReady`].
    pub(crate) fn check(&self, activity: &Activity, user: &UserId, level: Option<u32>) -> Result<(), Refusal> {
        let asked = activity.eligibility;
        if asked
            .min_level
            .is_some_and(|least| level.is_none_or(|level| level < least))
        {
            return Err(Refusal::NotEligible);
        }
        if asked.list.is_none() {
            return Ok(());
        }
        match self.0.load().get(&activity.id) {
            // Its list was forgotten; that it has ended is said by a later check.
            None if activity.status == Status::Closed => Ok(()),
            None => Err(Refusal::NotReady(NotReady::NotPreheated)),
            Some(list) if list.has(user) => Ok(()),
            Some(_) => Err(Refusal::NotEligible),
        }
    }
}
