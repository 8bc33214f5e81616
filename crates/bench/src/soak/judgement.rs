//! What a soak is held against.
//!
//! Memory comes to rest; it does not stand still to the byte. It counts as level where the line through the last half of the readings, less
//! twice its standard error, rises by at most 8 KiB a sale: a fifteenth of what the 1,000 buyers of a sale cost while the store keeps it,
//! so that nothing which is left of each buyer hides below it.
//!
//! The store keeps 32 closed sales by design, page caches fill, and the allocator takes some hundred sales until it has all the room that it
//! ever needs: measured, memory rests after about 500 sales, and lines through fewer readings point up or down by chance. So a soak of
//! fewer than 1,000 sales tells its slope and is not judged by it.

use serde::Serialize;

use super::{Holding, SoakConfig};

/// Memory may grow by this much a sale.
pub const RSS_SLOPE_BYTES_MAX: f64 = 8.0 * 1024.0;
/// Fewer sales than this are not judged by their slope.
pub const SALES_JUDGED_MIN: usize = 1_000;
/// The journal may grow to this: 64 MiB of segments start a compaction; its outcome and what comes meanwhile lie beside them.
pub const JOURNAL_BYTES_MAX: u64 = 192 << 20;
/// The database may grow by this much an order: order, record, their indexes, and a share of the movements.
pub const ORDER_DISK_BYTES_MAX: f64 = 1024.0;

/// How what a process holds has moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Trend {
    /// Growth of resident memory a sale over the last half, by least squares.
    pub rss_slope_bytes: f64,
    /// Its standard error: readings that scatter widely make a line that means little.
    pub rss_slope_error_bytes: f64,
    /// The slope over the mean resident memory of that half.
    pub rss_slope_share: f64,
    /// Whether there were sales enough to be judged by the slope.
    pub is_rss_judged: bool,
    /// The largest journal.
    pub journal_bytes_peak: u64,
    /// Growth of the database an order over the last half, by least squares.
    pub order_disk_bytes: f64,
}

impl Trend {
    /// `orders` is how many each sale made.
    pub(super) fn of(holdings: &[Holding], orders: u64) -> Self {
        let half = &holdings[holdings.len() / 2..];
        let rss = half.iter().map(|holding| holding.rss_bytes as f64);
        let count = half.len().max(1) as f64;
        let (rss_slope_bytes, rss_slope_error_bytes) = slope(rss.clone());
        let rss_mean = rss.sum::<f64>() / count;
        let database = half.iter().map(|holding| holding.database_bytes() as f64);
        Self {
            rss_slope_bytes,
            rss_slope_error_bytes,
            rss_slope_share: rss_slope_bytes / rss_mean.max(1.0),
            is_rss_judged: SALES_JUDGED_MIN <= holdings.len(),
            journal_bytes_peak: holdings.iter().map(|holding| holding.journal_bytes).max().unwrap_or(0),
            order_disk_bytes: slope(database).0 / orders.max(1) as f64,
        }
    }

    /// Whether memory is level.
    pub fn is_level(&self) -> bool {
        self.rss_slope_bytes - 2.0 * self.rss_slope_error_bytes <= RSS_SLOPE_BYTES_MAX
    }
}

/// What grows and shouldn't.
pub(super) fn growing(config: &SoakConfig, holdings: &[Holding], trend: &Trend) -> Vec<String> {
    let (first, last) = holdings.split_at(holdings.len() / 2);
    let descriptors = |half: &[Holding]| half.iter().map(|holding| holding.descriptors).max().unwrap_or(0);
    let mut said = Vec::new();
    if trend.is_rss_judged && !trend.is_level() {
        said.push(format!(
            "memory grows by {:.1} KiB a sale (± {:.1}), {:.1} are allowed",
            trend.rss_slope_bytes / 1024.0,
            2.0 * trend.rss_slope_error_bytes / 1024.0,
            RSS_SLOPE_BYTES_MAX / 1024.0
        ));
    }
    if JOURNAL_BYTES_MAX < trend.journal_bytes_peak {
        said.push(format!("the journal grew to {} MiB", trend.journal_bytes_peak >> 20));
    }
    if trend.is_rss_judged && ORDER_DISK_BYTES_MAX < trend.order_disk_bytes {
        said.push(format!(
            "the database grows by {:.0} bytes an order",
            trend.order_disk_bytes
        ));
    }
    if descriptors(first) + config.connections < descriptors(last) {
        said.push(format!(
            "descriptors rose from {} to {}",
            descriptors(first),
            descriptors(last)
        ));
    }
    said
}

/// Slope and its standard error, by least squares.
fn slope(values: impl ExactSizeIterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.len() as f64;
    let (mean_at, mean) = ((count - 1.0) / 2.0, values.clone().sum::<f64>() / count);
    let (mut both, mut spread_at, mut spread) = (0.0, 0.0, 0.0);
    for (at, value) in values.enumerate() {
        let from_mean = at as f64 - mean_at;
        both += from_mean * (value - mean);
        spread_at += from_mean * from_mean;
        spread += (value - mean) * (value - mean);
    }
    if count < 3.0 {
        return (0.0, 0.0);
    }
    let slope = both / spread_at;
    let unexplained = (spread - slope * both).max(0.0);
    (slope, (unexplained / (count - 2.0) / spread_at).sqrt())
}

#[cfg(test)]
#[path = "judgement_tests.rs"]
mod tests;
