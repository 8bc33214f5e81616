//! What an overload has shown. Values only.

use std::time::Duration;

use serde::Serialize;

use crate::bottleneck::Bottleneck;
use crate::outcome::LoadReport;
use crate::overload::People;

/// An overload and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct OverloadReport {
    /// What limited the server.
    pub bottleneck: Bottleneck,
    /// What one step of a store that is held back takes by itself, in milliseconds: the delay and the disk's median, or the median answer of a
    /// server to a `PING` that takes the same way.
    pub store_own_ms: Option<f64>,
    /// The best rate of accepted purchases, in a closed loop.
    pub capacity_per_s: f64,
    /// The load that was offered.
    pub offered_per_s: f64,
    /// Half of the capacity, beforehand.
    pub before: LoadReport,
    /// The overload.
    pub overload: LoadReport,
    /// What came of rude clients.
    pub people: Option<People>,
    /// Accepted purchases under overload over the best.
    pub goodput: f64,
    /// Resident memory of the server's processes.
    pub memory: Memory,
    /// How long the server took to be back to normal; `None` when it was not within 10 s.
    pub recovered_after_s: Option<f64>,
    /// The usual loads behind it, until one was as before.
    pub looks: Vec<Look>,
    /// What must hold and doesn't.
    pub violations: Vec<String>,
    /// Figures that a run should reach and didn't: a slow machine's fault perhaps, no broken promise.
    pub missed: Vec<String>,
}

/// What a usual load behind the overload came to.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Look {
    /// When it began, from the end of the overload.
    pub began_s: f64,
    /// Purchases that were wanted.
    pub requests: u64,
    /// Those that were accepted.
    pub accepted: u64,
    /// Of the accepted.
    pub p99_ms: f64,
    /// Whether all were accepted, about as fast as before the overload.
    pub is_normal: bool,
}

impl Look {
    pub(super) fn of(load: &LoadReport, began: Duration, is_normal: bool) -> Self {
        Self {
            began_s: began.as_secs_f64(),
            requests: load.requests,
            accepted: load.accepted,
            p99_ms: load.accepted_latency.p99_ms,
            is_normal,
        }
    }
}

/// Resident memory, in bytes.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Memory {
    /// Before the overload.
    pub before_bytes: u64,
    /// The most that it ever was.
    pub peak_bytes: u64,
    /// Behind it, once all orders were written.
    pub after_bytes: u64,
}
