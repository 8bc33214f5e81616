//! The sales that a node knows. An id that is not here is unknown: it is refused without asking a store or a database.
//!
//! Whoever fills it brings every unended activity, and those that ended within [`ENDED_KEPT_MS`], so that a late click hears "ended"
//! and not "no such sale".

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use foldhash::fast::RandomState;
use seckill_sale::{Activity, ActivityId, Refusal, Status};

/// How long an activity stays here after its end: 7 days.
pub const ENDED_KEPT_MS: i64 = 7 * 24 * 3600 * 1000;

/// All activities at one moment.
pub type Activities = HashMap<ActivityId, Arc<Activity>, RandomState>;

/// The activities in force.
#[derive(Debug, Default)]
pub struct Catalogue(ArcSwap<Activities>);

impl Catalogue {
    /// The activity, where people may know of it: a draft is as unknown as an id that nobody gave out.
    ///
    /// # Errors
    /// [`Refusal::UnknownActivity`].
    pub fn find(&self, id: ActivityId) -> Result<Arc<Activity>, Refusal> {
        self.now().find(id).cloned()
    }

    /// Whether the activity is there, and such a one. Costs a look-up, and no count of references.
    #[must_use]
    pub fn has(&self, id: ActivityId, is_such: impl FnOnce(&Activity) -> bool) -> bool {
        self.0.load().get(&id).is_some_and(|activity| is_such(activity))
    }

    /// The activities of this moment, to be read and let go: no count of references moves between the cores.
    pub(crate) fn now(&self) -> Now {
        Now(self.0.load())
    }

    /// All of them, for lists.
    #[must_use]
    pub fn all(&self) -> Arc<Activities> {
        self.0.load_full()
    }

    /// Replaces all activities by what was read from the ledger, whatever versions were known: a ledger that was restored from a copy has
    /// earlier ones. So a list must be read and brought here without a [`Catalogue::put`] in between, or that is undone until the next list.
    pub fn replace(&self, activities: impl IntoIterator<Item = Arc<Activity>>) {
        let activities: Activities = activities.into_iter().map(|activity| (activity.id, activity)).collect();
        self.0.store(Arc::new(activities));
    }

    /// Adds or changes one activity at once, unless a newer version is known: rows come here in another order than they were read. Where the
    /// ledger was restored since, the next list puts that right.
    pub fn put(&self, activity: &Arc<Activity>) {
        self.0.rcu(|present| {
            if present
                .get(&activity.id)
                .is_some_and(|known| activity.version < known.version)
            {
                return Arc::clone(present);
            }
            let mut next = Activities::clone(present);
            next.insert(activity.id, Arc::clone(activity));
            Arc::new(next)
        });
    }
}

/// See [`Catalogue::now`].
pub(crate) struct Now(Guard<Arc<Activities>>);

impl Now {
    pub(crate) fn find(&self, id: ActivityId) -> Result<&Arc<Activity>, Refusal> {
        let known = self.0.get(&id).filter(|activity| activity.status != Status::Draft);
        known.ok_or(Refusal::UnknownActivity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::activity;

    fn version(catalogue: &Catalogue, id: u64) -> Option<u64> {
        catalogue
            .find(ActivityId::new(id).expect("in range"))
            .ok()
            .map(|activity| activity.version)
    }

    fn versioned(id: u64, version: u64) -> Arc<Activity> {
        Arc::new(Activity {
            version,
            ..activity(id)
        })
    }

    #[test]
    fn only_listed_activities_are_known() {
        let catalogue = Catalogue::default();
        catalogue.replace([versioned(1, 1), versioned(2, 1)]);
        catalogue.replace([versioned(2, 1)]);
        assert_eq!([version(&catalogue, 1), version(&catalogue, 2)], [None, Some(1)]);
    }

    #[test]
    fn draft_is_unknown_to_buyers() {
        let catalogue = Catalogue::default();
        catalogue.put(&Arc::new(Activity {
            status: Status::Draft,
            ..activity(1)
        }));
        assert_eq!((version(&catalogue, 1), catalogue.all().len()), (None, 1));
        let [one, other] = [1, 2].map(|id| ActivityId::new(id).expect("in range"));
        let is_draft = |activity: &Activity| activity.status == Status::Draft;
        assert!(catalogue.has(one, is_draft) && !catalogue.has(one, |activity| !is_draft(activity)));
        assert!(!catalogue.has(other, |_| true));
    }

    #[test]
    fn a_newer_version_is_not_undone_by_an_older_row_and_a_list_is_taken_as_it_is() {
        let catalogue = Catalogue::default();
        catalogue.put(&versioned(1, 2));
        catalogue.put(&versioned(1, 1));
        assert_eq!(version(&catalogue, 1), Some(2));
        for read in [3, 1] {
            catalogue.replace([versioned(1, read)]);
            assert_eq!(version(&catalogue, 1), Some(read));
        }
    }
}
