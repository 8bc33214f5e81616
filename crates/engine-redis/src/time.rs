//! The store's clock as this node knows it.
//!
//! The server's clock decides every window. Between answers a node estimates it: its own clock, moved by the offset that the last quick
//! answer showed. Where tests need a moment that no server shows, they give the clock themselves, and scripts are told the moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use seckill_sale::{Clock, EpochMs, SystemClock};

pub(crate) enum Time {
    /// The server's, by an estimate.
    Server {
        offset_ms: AtomicI64,
        uncertainty_ms: AtomicI64,
    },
    /// Given from outside: tests only.
    Given(Arc<dyn Clock>),
}

impl Time {
    pub(crate) const fn server() -> Self {
        Self::Server {
            offset_ms: AtomicI64::new(0),
            uncertainty_ms: AtomicI64::new(i64::MAX),
        }
    }

    /// The node's own clock, by which answers are timed.
    pub(crate) fn local() -> EpochMs {
        SystemClock.now()
    }

    pub(crate) fn now(&self) -> EpochMs {
        match self {
            Self::Server { offset_ms, .. } => Self::local().plus(offset_ms.load(Ordering::Relaxed)),
            Self::Given(clock) => clock.now(),
        }
    }

    pub(crate) fn uncertainty_ms(&self) -> i64 {
        match self {
            Self::Server { uncertainty_ms, .. } => uncertainty_ms.load(Ordering::Relaxed).min(60_000),
            Self::Given(_) => 0,
        }
    }

    /// What a script is told: nothing, so that it asks the server, or the given moment.
    pub(crate) fn argument(&self) -> Vec<u8> {
        match self {
            Self::Server { .. } => Vec::new(),
            Self::Given(clock) => clock.now().to_string().into_bytes(),
        }
    }

    /// Learns from an answer: asked at `asked_at` by the node's clock, decided at `decided_at` by the server's, here now.
    pub(crate) fn learn(&self, asked_at: EpochMs, decided_at: EpochMs) {
        /// An answer that took longer says little.
        const QUICK_MS: i64 = 20;
        let Self::Server {
            offset_ms,
            uncertainty_ms,
        } = self
        else {
            return;
        };
        let took_ms = Self::local().since(asked_at);
        let known_ms = uncertainty_ms.load(Ordering::Relaxed);
        if (0..=QUICK_MS).contains(&took_ms) || took_ms / 2 < known_ms {
            offset_ms.store(decided_at.since(asked_at.plus(took_ms / 2)), Ordering::Relaxed);
            uncertainty_ms.store(took_ms.max(0) / 2 + 1, Ordering::Relaxed);
        }
    }
}
