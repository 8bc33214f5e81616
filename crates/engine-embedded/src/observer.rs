//! Who hears how long the store's durable steps take.

use std::time::{Duration, Instant};

use crate::sequencer::Sequencer;
use crate::storage::Storage;

/// Hears of every batch that may write, once it is durable. It runs on the sequencer's thread, so it must not wait for anything.
pub(crate) type Observer = Box<dyn Fn(Duration) + Send>;

impl<S: Storage> Sequencer<S> {
    /// Has `observer` hear how long each batch that may write takes, from the first decision to the sync. Without one no clock is read.
    pub fn observe(&mut self, observer: impl Fn(Duration) + Send + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// When a batch of `bytes` began; none where nobody wants to hear of it.
    pub(crate) fn began(&self, bytes: usize) -> Option<Instant> {
        (self.observer.is_some() && bytes != 0).then(Instant::now)
    }

    pub(crate) fn ended(&self, began: Option<Instant>) {
        if let (Some(observer), Some(began)) = (&self.observer, began) {
            observer(began.elapsed());
        }
    }
}
