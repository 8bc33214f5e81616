//! What a flood of forged requests did.

use serde::Serialize;

/// One pair of runs.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Pair {
    /// p99 of accepted purchases without the flood, in milliseconds.
    pub alone_ms: f64,
    /// The same with it.
    pub flooded_ms: f64,
}

/// What the flood did.
#[derive(Debug, Clone, Serialize)]
pub struct FloodReport {
    /// Purchases a second in a closed loop that lasts some seconds, while their orders are written.
    pub capacity_per_s: f64,
    /// Honest purchases a second, and as many forged requests.
    pub offered_per_s: f64,
    /// In the order of running.
    pub pairs: Vec<Pair>,
    /// Pairs that there would have been, had there been time.
    pub pairs_wanted: usize,
    /// Forged requests in all.
    pub forged: u64,
    /// Forged requests that there would have been, had each run had the time for them.
    pub forged_wanted: u64,
    /// Forged requests of the last flood, which comes alone.
    pub last_forged: u64,
    /// Resident memory before and after it, in bytes.
    pub rss_bytes: [u64; 2],
    /// What must hold and doesn't.
    pub violations: Vec<String>,
}

impl FloodReport {
    /// Median of the pairs' ratios.
    pub fn ratio(&self) -> f64 {
        let mut ratios: Vec<f64> = self.pairs.iter().map(|pair| pair.flooded_ms / pair.alone_ms).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// Whether it is as much as was wanted; else time was over before.
    pub fn is_whole(&self) -> bool {
        self.pairs.len() == self.pairs_wanted && self.forged == self.forged_wanted
    }
}
