//! Which state of a sale its view shows, so that sales that have not changed cost a turn next to nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{EpochMs, Sale};

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

/// The figures that a view shows. All figures would take twice as long, and every batch publishes.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) stock_left: u64,
    pub(crate) next_sequence: u64,
    pub(crate) settled_up_to: u64,
    pub(crate) oldest_accepted_at: Option<EpochMs>,
    pub(crate) queued_tickets: u64,
}

impl Sale {
    /// Makes the present state readable, where it has changed: to be called once everything applied so far is durable.
    #[inline]
    pub fn publish(&self) {
        if self.published.0.load(Ordering::Relaxed) != self.revision {
            let oldest = self.backlog.oldest();
            let shown = Shown {
                stock_left: self.left,
                next_sequence: self.next_sequence,
                settled_up_to: self.settled_up_to(oldest.map(|(sequence, _)| sequence)),
                oldest_accepted_at: oldest.map(|(_, at)| at),
                queued_tickets: self.backlog.len() as u64,
            };
            self.view.publish(&shown, self.is_open(), self.held);
            self.published.0.store(self.revision, Ordering::Relaxed);
        }
    }

    /// The sequence before that of the oldest ticket that waits.
    pub(crate) fn settled_up_to(&self, oldest_sequence: Option<u64>) -> u64 {
        oldest_sequence.unwrap_or(self.next_sequence).saturating_sub(1)
    }
}
