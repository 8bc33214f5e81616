//! What a connection is doing and since when: written by its socket and its service, read by the
//! sweep of its core, which ends it when a deadline has passed.
//!
//! ```text
//!            first byte         head complete         answer ended
//!   Fresh ───────────────▶ Head ─────────────▶ Busy ───────────────▶ Idle
//!                           ▲                    ▲                    │ │
//!                           └──── first byte ────┼────────────────────┘ │
//!                                                └── pipelined head ────┘
//! ```
//!
//! Everything of one connection happens on one thread; the atomics and locks are never contended.
//! They are there because an upgraded socket must be able to move to another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Waker};

use parking_lot::Mutex;

use crate::deadlines::{CoreState, Deadlines};
use crate::tape::Tape;

/// No write is pending, or no body is on its way.
const NEVER: u64 = u64::MAX;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Nothing was received yet.
    Fresh,
    /// A head has begun.
    Head,
    /// A request is with the service, or its answer is being sent.
    Busy,
    /// Kept alive between two requests.
    Idle,
    /// No longer HTTP: only stalled writes are watched.
    Upgraded,
}

/// Why the sweep ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Verdict {
    /// Silent for too long: closed without a word.
    Silent = 1,
    /// The head didn't arrive in time: 408.
    SlowHead = 2,
    /// The client took nothing of what was written: reset.
    Stalled = 3,
}

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
    task: Mutex<Option<Waker>>,
    body_reader: Mutex<Option<Waker>>,
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
            task: Mutex::default(),
            body_reader: Mutex::default(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Relaxed) {
            0 => Phase::Fresh,
            1 => Phase::Head,
            2 => Phase::Busy,
            3 => Phase::Idle,
            _ => Phase::Upgraded,
        }
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
        self.body_reader.lock().take();
    }

    /// Whether the body's deadline has passed.
    pub(crate) fn body_expired(&self) -> bool {
        self.body_expired.load(Relaxed)
    }

    /// The reader of the body waits; the deadline must wake it.
    pub(crate) fn body_waits(&self, context: &Context<'_>) {
        remember(&self.body_reader, context);
    }

    /// A write found the socket's buffer full.
    pub(crate) fn write_waits(&self, context: &Context<'_>) {
        if self.stalled_since_ms.load(Relaxed) == NEVER {
            self.stalled_since_ms.store(self.now_ms(), Relaxed);
        }
        remember(&self.task, context);
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
        remember(&self.task, context);
    }

    pub(crate) fn verdict(&self) -> Option<Verdict> {
        match self.verdict.load(Relaxed) {
            0 => None,
            1 => Some(Verdict::Silent),
            2 => Some(Verdict::SlowHead),
            _ => Some(Verdict::Stalled),
        }
    }

    /// Compares the connection with its deadlines. Returns the verdict where this call made one.
    pub(crate) fn judge(&self, deadlines: &Deadlines) -> Option<Verdict> {
        if self.verdict().is_some() {
            return None;
        }
        let passed = |since: &AtomicU64, allowed: u64| {
            let since = since.load(Relaxed);
            since != NEVER && allowed < self.now_ms().saturating_sub(since)
        };
        let verdict = if passed(&self.stalled_since_ms, deadlines.write_stall) {
            Verdict::Stalled
        } else {
            let (allowed, verdict) = match self.phase() {
                Phase::Fresh => (deadlines.first_byte, Verdict::Silent),
                Phase::Idle => (deadlines.idle, Verdict::Silent),
                Phase::Head => (deadlines.header, Verdict::SlowHead),
                Phase::Busy | Phase::Upgraded => return None,
            };
            if !passed(&self.since_ms, allowed) {
                return None;
            }
            verdict
        };
        self.verdict.store(verdict as u8, Relaxed);
        wake(&self.task);
        Some(verdict)
    }

    /// Fails the reader of a body that took too long. Returns whether this call did.
    pub(crate) fn judge_body(&self, deadlines: &Deadlines) -> bool {
        let since = self.body_since_ms.load(Relaxed);
        if since == NEVER || self.now_ms().saturating_sub(since) <= deadlines.body {
            return false;
        }
        self.body_since_ms.store(NEVER, Relaxed);
        self.body_expired.store(true, Relaxed);
        wake(&self.body_reader);
        true
    }
}

fn remember(slot: &Mutex<Option<Waker>>, context: &Context<'_>) {
    let mut slot = slot.lock();
    match &mut *slot {
        Some(waker) => waker.clone_from(context.waker()),
        None => *slot = Some(context.waker().clone()),
    }
}

fn wake(slot: &Mutex<Option<Waker>>) {
    let waker = slot.lock().clone();
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests;
