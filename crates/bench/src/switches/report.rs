//! What was measured.

use serde::Serialize;

use super::log::Counts;
use super::times::SwitchTimes;

/// How soon the switches were followed.
#[derive(Debug, Clone, Serialize)]
pub struct SwitchesReport {
    /// Nodes that answered buyers.
    pub nodes: usize,
    /// Times that each switch was turned on and off.
    pub repetitions: usize,
    /// Purchases a second in a closed loop over all nodes.
    pub capacity_per_s: f64,
    /// New buyers a second, at all nodes together.
    pub offered_per_s: f64,
    /// In the order of running.
    pub times: Vec<SwitchTimes>,
    /// What buyers heard.
    pub counts: Counts,
    /// Answers in the place of which a busy node said 50300.
    pub busy: u64,
    /// What must hold and doesn't.
    pub violations: Vec<String>,
    /// Times that should be shorter.
    pub missed: Vec<String>,
}

impl SwitchesReport {
    /// The longest time that a node took to follow, in milliseconds.
    pub fn longest_ms(&self) -> f64 {
        self.times.iter().map(|times| times.settled_ms.max).fold(0.0, f64::max)
    }
}
