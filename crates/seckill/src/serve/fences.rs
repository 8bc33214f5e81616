//! Which sales this node shows as fenced: the store lets nobody in although the sale's row does not say so.
//!
//! A node that is cut off from the store, or has just come back, does not know of a state that another one has built: that is no fence. So a
//! sale is shown as fenced from the second look on that finds it so while the store answers, and stays as it was shown while it does not.

use std::collections::HashMap;

use parking_lot::Mutex;
use seckill_sale::ActivityId;

use super::node::Node;

/// Sales that were found fenced at the last look.
#[derive(Debug, Default)]
pub(crate) struct Fences(Mutex<HashMap<ActivityId, Found>>);

#[derive(Debug, Clone, Copy, Default)]
struct Found {
    /// By the look before, with the store in reach.
    before: bool,
    is_shown: bool,
}

impl Found {
    /// The next look; `is_fenced` is none where the store is out of reach.
    fn next(self, is_fenced: Option<bool>) -> Self {
        Self {
            before: is_fenced.unwrap_or(false),
            is_shown: match is_fenced {
                Some(is_fenced) => is_fenced && (self.before || self.is_shown),
                None => self.is_shown,
            },
        }
    }
}

impl Fences {
    /// Looks at all sales; to be called a few times a second, and less often than a store is read again.
    pub(super) fn look(&self, node: &Node) {
        let down = node.layers.lock().as_ref().is_none_or(|layers| layers.store.is_down());
        let catalogue = node.gate.catalogue().all();
        let mut all = self.0.lock();
        all.retain(|id, _| catalogue.contains_key(id));
        for activity in catalogue.values() {
            let found = all.entry(activity.id).or_default();
            *found = found.next((!down).then(|| node.operator.is_fenced(activity)));
        }
    }

    /// Whether a sale is shown as fenced.
    pub(super) fn shows(&self, id: ActivityId) -> bool {
        self.0.lock().get(&id).is_some_and(|found| found.is_shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_shown_from_the_second_look_on_and_kept_while_the_store_is_out_of_reach() {
        let (fenced, open, unknown) = (Some(true), Some(false), None);
        let mut found = Found::default();
        for (place, (seen, shown)) in [
            (fenced, false),
            (fenced, true),
            (unknown, true),
            (fenced, true),
            (open, false),
            (fenced, false),
            (unknown, false),
            (fenced, false),
            (open, false),
            (fenced, false),
            (fenced, true),
        ]
        .into_iter()
        .enumerate()
        {
            found = found.next(seen);
            assert_eq!(found.is_shown, shown, "look {place}");
        }
    }
}
