//! Which state of a sale its view shows, so that sales that have not changed cost a turn next to nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Sale;

/// The revision that was published last. Only the owner of the sale looks at it.
#[derive(Debug)]
pub(crate) struct Published(AtomicU64);

impl Published {
    const NOTHING: u64 = u64::MAX;
}

impl Default for Published {
    fn default() -> Self {
        Self(AtomicU64::new(Self::NOTHING))
    }
}

impl Sale {
    /// Makes the present state readable, where it has changed: to be called once everything applied so far is durable.
    pub fn publish(&self) {
        if self.published.0.load(Ordering::Relaxed) != self.revision {
            self.view.publish(&self.figures(), self.is_open(), self.held);
            self.published.0.store(self.revision, Ordering::Relaxed);
        }
    }
}
