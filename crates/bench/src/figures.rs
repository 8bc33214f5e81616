//! Figures of runs, and their spread.

use serde::Serialize;

/// One run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RunFigures {
    /// Answers a second.
    pub requests_per_s: f64,
    /// The server's CPU time over the requests; for acceptances with their settlement.
    pub cpu_us_per_request: f64,
    /// Half of the answers were faster.
    pub p50_ms: f64,
    /// 99 % of the answers were faster.
    pub p99_ms: f64,
}

/// One run of each.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// The bare listener.
    pub bare: RunFigures,
    /// The product.
    pub product: RunFigures,
}

/// Median and extremes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The smallest.
    pub min: f64,
    /// The one in the middle; of an even number the mean of both.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// The spread of `values`, which are not empty.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
        Self {
            min: values[0],
            median: (low + high) / 2.0,
            max: values[values.len() - 1],
        }
    }
}
