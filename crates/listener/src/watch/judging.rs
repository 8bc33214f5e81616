//! When a connection is ended: by its deadlines, or since its place is needed.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{NEVER, Watch};
use crate::deadlines::Deadlines;
use crate::phase::{Phase, Verdict};

impl Watch {
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
        self.task.wake();
        Some(verdict)
    }

    /// Who gives way first where places are needed: the lowest. None: it has a request under way, is a stream, or ends already.
    pub(crate) fn idle_rank(&self) -> Option<(bool, u64)> {
        // An answer that the client has not taken yet belongs to a request that is under way.
        if self.verdict().is_some() || self.write_is_stalled() {
            return None;
        }
        let head_began = match self.phase() {
            Phase::Fresh | Phase::Idle => false,
            Phase::Head => true,
            Phase::Busy | Phase::Upgraded => return None,
        };
        Some((head_began, self.since_ms.load(Relaxed)))
    }

    /// The place is needed: ended without a word.
    pub(crate) fn give_way(&self) {
        self.leave();
        self.task.wake();
    }

    /// HTTP is over, only last words may follow: no deadline needs to end it any more.
    pub(crate) fn leave(&self) {
        self.verdict.store(Verdict::Silent as u8, Relaxed);
    }

    /// Fails the reader of a body that took too long. Returns whether this call did.
    pub(crate) fn judge_body(&self, deadlines: &Deadlines) -> bool {
        let since = self.body_since_ms.load(Relaxed);
        if since == NEVER || self.now_ms().saturating_sub(since) <= deadlines.body {
            return false;
        }
        self.body_since_ms.store(NEVER, Relaxed);
        self.body_expired.store(true, Relaxed);
        self.body_reader.wake();
        true
    }
}
