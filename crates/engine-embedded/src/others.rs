//! Sales whose state is one of another sale that had the number: the ledger was restored from an older copy, and gave it out again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use seckill_sale::{ActivityId, EpochMs, SaleView};

use crate::shared::Views;

/// See the module. Counted anew whenever sales come or go, and whenever the ledger is read.
#[derive(Default)]
pub(crate) struct Others {
    /// When each sale of the ledger was created. Its lock is held while the others are counted, so that the last count has seen everything.
    created: Mutex<BTreeMap<ActivityId, EpochMs>>,
    found: ArcSwap<BTreeSet<ActivityId>>,
}

impl Others {
    pub(crate) fn set_created(&self, created: BTreeMap<ActivityId, EpochMs>, views: &ArcSwap<Views>) {
        let mut known = self.created.lock();
        *known = created;
        self.count(&known, views);
    }

    pub(crate) fn look_again(&self, views: &ArcSwap<Views>) {
        self.count(&self.created.lock(), views);
    }

    fn count(&self, created: &BTreeMap<ActivityId, EpochMs>, views: &ArcSwap<Views>) {
        let is_another = |view: &SaleView| {
            let known = view.created_at().zip(created.get(&view.activity()));
            known.is_some_and(|(own, of)| own != *of)
        };
        let views = views.load();
        let others = views.values().filter(|view| is_another(view));
        let others: BTreeSet<_> = others.map(|view| view.activity()).collect();
        if **self.found.load() != others {
            self.found.store(Arc::new(others));
        }
    }

    /// For the hot path: there are none but after a restore.
    pub(crate) fn contain(&self, activity: ActivityId) -> bool {
        self.found.load().contains(&activity)
    }

    /// All of them at this moment.
    pub(crate) fn all(&self) -> Arc<BTreeSet<ActivityId>> {
        self.found.load_full()
    }
}
