//! What a connection is doing and since when: written by its socket and its service, read by the
//! sweep of its core, which ends it when a deadline has passed.
//!
//! Everything of one connection happens on one thread; the atomics and locks are never contended.
//! They are there because an upgraded socket must be able to move to another thread.

mod judging;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::task::Context;

use parking_lot::Mutex;

use crate::deadlines::CoreState;
use crate::phase::{Phase, Verdict};
use crate::tape::Tape;
use crate::waker_slot::WakerSlot;

/// No write is pending, or no body is on its way.
const NEVER: u64 = u64::MAX;

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) core: Arc<CoreState>,
    /// Heads as they were received, for the checks that the parser can't make.
    pub(crate) tape: Mutex<Tape>,
    phase: AtomicU8,
    since_ms: AtomicU64,
    stalled_since_ms: AtomicU64,
    body_since_ms: AtomicU64,
    body_expired: AtomicBool,
    verdict: AtomicU8,
    /// The service's latest answer looks like an error of hyper's own; see `own_error`.
    pub(crate) answers_barely: AtomicBool,
    /// Unread bytes of the client are to be expected when the connection closes.
    pub(crate) leaves_unread: AtomicBool,
    task: WakerSlot,
    body_reader: WakerSlot,
}

impl Watch {
    pub(crate) fn new(core: Arc<CoreState>) -> Self {
        let now = core.alive_ms.load(Relaxed);
        Self {
            core,
            tape: Mutex::default(),
            phase: AtomicU8::new(Phase::Fresh as u8),
            since_ms: AtomicU64::new(now),
            stalled_since_ms: AtomicU64::new(NEVER),
            body_since_ms: AtomicU64::new(NEVER),
            body_expired: AtomicBool::new(false),
            verdict: AtomicU8::new(0),
            answers_barely: AtomicBool::new(false),
            leaves_unread: AtomicBool::new(false),
            task: WakerSlot::default(),
            body_reader: WakerSlot::default(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        Phase::stored_as(self.phase.load(Relaxed))
    }

    fn enter(&self, phase: Phase) {
        self.since_ms.store(self.now_ms(), Relaxed);
        self.phase.store(phase as u8, Relaxed);
    }

    fn now_ms(&self) -> u64 {
        self.core.alive_ms.load(Relaxed)
    }

    /// Bytes came from the client.
    pub(crate) fn received(&self, bytes: &[u8]) {
        match self.phase() {
            Phase::Fresh | Phase::Idle => self.enter(Phase::Head),
            Phase::Head | Phase::Busy => {}
            Phase::Upgraded => return,
        }
        self.tape.lock().record(bytes);
    }

    /// A whole head came and goes to the service.
    pub(crate) fn begin_request(&self) {
        self.enter(Phase::Busy);
        if self.answers_barely.load(Relaxed) {
            self.answers_barely.store(false, Relaxed);
        }
    }

    /// The answer was handed over to the last byte.
    pub(crate) fn end_answer(&self) {
        self.enter(Phase::Idle);
    }

    /// The protocol changed: heads are no longer looked for.
    pub(crate) fn upgrade(&self) {
        self.enter(Phase::Upgraded);
        *self.tape.lock() = Tape::default();
    }

    /// A body is expected from now on; its deadline runs.
    pub(crate) fn begin_body(&self) {
        self.body_expired.store(false, Relaxed);
        self.body_since_ms.store(self.now_ms(), Relaxed);
    }

    /// The body ended, or nobody wants it any more.
    pub(crate) fn end_body(&self) {
        self.body_since_ms.store(NEVER, Relaxed);
        self.body_reader.forget();
    }

    /// Whether the body's deadline has passed.
    pub(crate) fn body_expired(&self) -> bool {
        self.body_expired.load(Relaxed)
    }

    /// The reader of the body waits; the deadline must wake it.
    pub(crate) fn body_waits(&self, context: &Context<'_>) {
        self.body_reader.remember(context);
    }

    /// A write found the socket's buffer full.
    pub(crate) fn write_waits(&self, context: &Context<'_>) {
        if self.stalled_since_ms.load(Relaxed) == NEVER {
            self.stalled_since_ms.store(self.now_ms(), Relaxed);
        }
        self.task.remember(context);
    }

    /// A write got on.
    pub(crate) fn write_moved(&self) {
        if self.stalled_since_ms.load(Relaxed) != NEVER {
            self.stalled_since_ms.store(NEVER, Relaxed);
        }
    }

    /// Whether written bytes are still waiting for the client to take earlier ones.
    pub(crate) fn write_is_stalled(&self) -> bool {
        self.stalled_since_ms.load(Relaxed) != NEVER
    }

    /// The task that a verdict must wake.
    pub(crate) fn driven_by(&self, context: &Context<'_>) {
        self.task.remember(context);
    }

    pub(crate) fn verdict(&self) -> Option<Verdict> {
        Verdict::stored_as(self.verdict.load(Relaxed))
    }
}

#[cfg(test)]
mod tests;
