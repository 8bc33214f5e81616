//! Shards that cannot be used, each told once: they are looked at several times a second.

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;
use seckill_sale::{ActivityId, NotReady};

use crate::keys::Place;
use crate::shared::Shared;

/// What was found last of each shard that cannot be used.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    found: Mutex<HashMap<Place, String>>,
    /// Sales that are shut until they are built anew.
    shut: Mutex<HashSet<ActivityId>>,
}

impl Troubles {
    /// Whether this is news.
    fn is_new(&self, place: Place, found: &str) -> bool {
        self.found.lock().insert(place, found.to_owned()).as_deref() != Some(found)
    }

    /// Whether it could not be used until now.
    fn are_over(&self, place: Place) -> bool {
        let mut troubles = self.found.lock();
        !troubles.is_empty() && troubles.remove(&place).is_some()
    }

    /// Notes that a sale is shut; whether that is news.
    pub(crate) fn shut(&self, activity: ActivityId) -> bool {
        self.shut.lock().insert(activity)
    }

    /// Notes that a sale can be used.
    pub(crate) fn opened(&self, activity: ActivityId) {
        self.shut.lock().remove(&activity);
    }
}

impl Shared {
    /// A state that nobody may use. One that is being built is no alarm.
    pub(crate) fn cannot_use(&self, place: Place, found: &str, reason: NotReady) {
        if self.troubles.is_new(place, found) {
            if reason == NotReady::Recovering {
                tracing::warn!(%place, found, "the state of a sale is not ready; nobody is admitted to it until it is");
            } else {
                tracing::error!(%place, found, "the state of a sale cannot be used; nobody is admitted to it");
            }
        }
        self.lose(place, reason);
    }

    /// A state that can be used, or none.
    pub(crate) fn can_use(&self, place: Place) {
        if self.troubles.are_over(place) {
            tracing::info!(%place, "the state of a sale can be used again, or is gone");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_is_news_once_until_it_changes_or_is_over() {
        let place = Place::whole(ActivityId::new(7).expect("in range"));
        let troubles = Troubles::default();
        assert!(!troubles.are_over(place));
        assert!(troubles.is_new(place, "damaged"));
        assert!(!troubles.is_new(place, "damaged"));
        assert!(troubles.is_new(place, "doubtful"));
        assert!(troubles.are_over(place) && !troubles.are_over(place));
        assert!(troubles.is_new(place, "doubtful"));
    }
}
