//! Counters of one listener.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Counters of one listener. Read at any time; totals only grow.
#[derive(Debug, Default)]
pub struct Counts {
    pub(crate) open: AtomicUsize,
    pub(crate) accepted_total: AtomicU64,
    pub(crate) refused_full_total: AtomicU64,
    pub(crate) refused_per_ip_total: AtomicU64,
    pub(crate) gave_way_total: AtomicU64,
    pub(crate) accept_errors_total: AtomicU64,
    pub(crate) slow_total: AtomicU64,
    pub(crate) stalled_total: AtomicU64,
}

impl Counts {
    /// Connections open now, upgraded ones included.
    #[must_use]
    pub fn open(&self) -> usize {
        self.open.load(Relaxed)
    }

    /// Connections accepted, refused ones included.
    #[must_use]
    pub fn accepted_total(&self) -> u64 {
        self.accepted_total.load(Relaxed)
    }

    /// Connections closed at once because `connections_max` were open, and none of them gave way.
    #[must_use]
    pub fn refused_full_total(&self) -> u64 {
        self.refused_full_total.load(Relaxed)
    }

    /// Connections closed at once because their address held `connections_per_ip` already.
    #[must_use]
    pub fn refused_per_ip_total(&self) -> u64 {
        self.refused_per_ip_total.load(Relaxed)
    }

    /// Connections closed to make room for others; see [`crate::WhenFull`].
    #[must_use]
    pub fn gave_way_total(&self) -> u64 {
        self.gave_way_total.load(Relaxed)
    }

    /// Failed calls of accept, for want of descriptors or memory above all.
    #[must_use]
    pub fn accept_errors_total(&self) -> u64 {
        self.accept_errors_total.load(Relaxed)
    }

    /// Requests given up because their head or their body came too slowly.
    #[must_use]
    pub fn slow_total(&self) -> u64 {
        self.slow_total.load(Relaxed)
    }

    /// Connections reset because the client took nothing of what was written.
    #[must_use]
    pub fn stalled_total(&self) -> u64 {
        self.stalled_total.load(Relaxed)
    }
}
