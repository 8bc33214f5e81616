//! The task to wake when a deadline has passed.

use std::task::{Context, Waker};

use parking_lot::Mutex;

/// At most one task that waits.
#[derive(Debug, Default)]
pub(crate) struct WakerSlot(Mutex<Option<Waker>>);

impl WakerSlot {
    /// The task of `context` waits, instead of any earlier one.
    pub(crate) fn remember(&self, context: &Context<'_>) {
        let mut slot = self.0.lock();
        match &mut *slot {
            Some(waker) => waker.clone_from(context.waker()),
            None => *slot = Some(context.waker().clone()),
        }
    }

    /// Nobody waits any more.
    pub(crate) fn forget(&self) {
        self.0.lock().take();
    }

    /// Wakes whoever waits, after the lock is released.
    pub(crate) fn wake(&self) {
        let waker = self.0.lock().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
