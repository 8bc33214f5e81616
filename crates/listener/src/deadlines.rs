//! The time that a core was alive, and the deadlines of its connections in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::time::Duration;

use crate::limits::Limits;

/// What the connections of one core share.
#[derive(Debug, Default)]
pub(crate) struct CoreState {
    /// Milliseconds that this core was alive, advanced by its sweep. Coarse, and it stands still
    /// while the core is starved: no client is closed for waiting on us.
    pub(crate) alive_ms: AtomicU64,
    /// Whether the shutdown began: connections end with the request they are at.
    pub(crate) draining: AtomicBool,
    /// Connections that this core holds or is about to take.
    pub(crate) open: Arc<AtomicUsize>,
}

/// Deadlines in milliseconds of core time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadlines {
    pub(crate) first_byte: u64,
    pub(crate) header: u64,
    pub(crate) idle: u64,
    pub(crate) body: u64,
    pub(crate) write_stall: u64,
}

impl Deadlines {
    /// A moment is known to within one sweep, so each deadline gets one on top: never early.
    pub(crate) fn new(limits: &Limits) -> Self {
        let sweep = millis(limits.sweep_interval());
        let allow = |timeout| millis(timeout).saturating_add(sweep);
        Self {
            first_byte: allow(limits.first_byte_timeout),
            header: allow(limits.header_timeout),
            idle: allow(limits.idle_timeout),
            body: allow(limits.body_timeout),
            write_stall: allow(limits.write_stall_timeout),
        }
    }

    /// The deadlines while draining: silence is only waited out.
    pub(crate) fn cut(self, silence: Duration) -> Self {
        Self {
            first_byte: self.first_byte.min(millis(silence)),
            idle: self.idle.min(millis(silence)),
            ..self
        }
    }
}

/// Whole milliseconds, at most what a `u64` holds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
