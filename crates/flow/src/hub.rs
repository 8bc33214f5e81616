//! Wakes streams when the result that they wait for may be final.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use seckill_sale::{ActivityId, UserId};
use tokio::sync::Notify;

/// A buyer of a sale.
pub(crate) type Topic = (ActivityId, UserId);

/// Who waits for which result.
pub(crate) struct Hub {
    hasher: RandomState,
    shards: Vec<Mutex<HashMap<Topic, Vec<Arc<Notify>>>>>,
    waiting: AtomicUsize,
}

impl Hub {
    const SHARDS: usize = 16;

    pub(crate) fn new() -> Self {
        let shards = (0..Self::SHARDS).map(|_| Mutex::default()).collect();
        Self {
            hasher: RandomState::new(),
            shards,
            waiting: AtomicUsize::new(0),
        }
    }

    fn shard(&self, topic: &Topic) -> &Mutex<HashMap<Topic, Vec<Arc<Notify>>>> {
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits choose the shard")]
        let at = self.hasher.hash_one(topic) as usize % Self::SHARDS;
        &self.shards[at]
    }

    pub(crate) fn add(&self, topic: Topic) -> Arc<Notify> {
        let notify = Arc::new(Notify::new());
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.shard(&topic).lock().entry(topic).or_default().push(notify.clone());
        notify
    }

    pub(crate) fn remove(&self, topic: &Topic, notify: &Arc<Notify>) {
        let mut shard = self.shard(topic).lock();
        if let Some(waiting) = shard.get_mut(topic) {
            waiting.retain(|other| !Arc::ptr_eq(other, notify));
            if waiting.is_empty() {
                shard.remove(topic);
            }
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    pub(crate) fn wake_sale(&self, activity: ActivityId) {
        if self.waiting.load(Ordering::SeqCst) == 0 {
            return;
        }
        for shard in &self.shards {
            let shard = shard.lock();
            let of_sale = shard.iter().filter(|((other, _), _)| *other == activity);
            of_sale
                .flat_map(|(_, waiting)| waiting)
                .for_each(|notify| notify.notify_one());
        }
    }

    pub(crate) fn wake<'a>(&self, buyers: impl Iterator<Item = (ActivityId, &'a UserId)>) {
        if self.waiting.load(Ordering::SeqCst) == 0 {
            return;
        }
        for (activity, user) in buyers {
            let topic = (activity, user.clone());
            let waiting = self.shard(&topic).lock().get(&topic).cloned().unwrap_or_default();
            waiting.iter().for_each(|notify| notify.notify_one());
        }
    }
}
