//! Durations in fixed buckets, counted per core: narrow ones, of which a percentile can be read, and wider ones on the page.

use std::sync::Arc;
use std::time::Duration;

use crate::Core;
use crate::cells::Cells;
use crate::durations::{BOUNDS_NS, BUCKETS};
use crate::page::Page;
use crate::registry::Collect;

/// Upper bounds of buckets, in microseconds: from a refusal out of memory to the longest wait anybody has.
pub(crate) const BOUNDS_US: &[u64] = &[
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000,
];

/// Index of the sum of all durations, in nanoseconds, behind the buckets.
const SUM: usize = BUCKETS;

/// How long something took, in buckets from 10 µs to 10 s, ten a decade. A clone counts the same.
#[derive(Clone, Debug)]
pub struct Histogram {
    cells: Arc<Cells>,
}

impl Histogram {
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            cells: Arc::new(Cells::new(cores, SUM + 1)),
        }
    }

    /// Counts one duration. A bound belongs to its bucket.
    pub fn observe(&self, core: Core, took: Duration) {
        let took_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_NS.partition_point(|bound| *bound < took_ns);
        self.cells.add(core, bucket, 1);
        self.cells.add(core, SUM, took_ns);
    }

    /// Durations counted so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        (0..BUCKETS).map(|bucket| self.cells.sum(bucket)).sum()
    }

    /// All durations counted so far, added up.
    #[must_use]
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.cells.sum(SUM))
    }

    /// The upper bound of each bucket, in microseconds, and how many durations fell into it so far: for [`crate::percentile_us`]. What lies
    /// above the largest bound stands beside it.
    #[must_use]
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let largest = BOUNDS_NS.last().copied();
        let bounds = BOUNDS_NS.iter().copied().chain(largest);
        let bucket = |(bucket, bound_ns): (usize, u64)| (bound_ns / 1_000, self.cells.sum(bucket));
        bounds.enumerate().map(bucket).collect()
    }
}

impl Collect for Histogram {
    fn collect(&self, name: &str, page: &mut Page) {
        let bucket_name = format!("{name}_bucket");
        let (mut count, mut next) = (0, 0);
        for bound_us in BOUNDS_US {
            while next < BOUNDS_NS.len() && BOUNDS_NS[next] <= bound_us * 1_000 {
                count += self.cells.sum(next);
                next += 1;
            }
            let bound = (*bound_us as f64 / 1e6).to_string();
            page.whole(&bucket_name, &[("le", &bound)], count);
        }
        // The count is the last bucket and not a number of its own, so that the two agree while others go on counting.
        count += (next..BUCKETS).map(|bucket| self.cells.sum(bucket)).sum::<u64>();
        page.whole(&bucket_name, &[("le", "+Inf")], count);
        page.real(&format!("{name}_sum"), &[], self.cells.sum(SUM) as f64 / 1e9);
        page.whole(&format!("{name}_count"), &[], count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_falls_into_the_first_bucket_that_holds_it() {
        let histogram = Histogram::new(2);
        for (core, micros) in [
            (Core::new(0), 0),
            (Core::new(1), 100),
            (Core::OTHER, 101),
            (Core::new(0), 20_000_000),
        ] {
            histogram.observe(core, Duration::from_micros(micros));
        }
        let mut page = Page::default();
        histogram.collect("t", &mut page);
        let text = page.into_text();
        for line in [
            "t_bucket{le=\"0.0001\"} 2\n",
            "t_bucket{le=\"0.00025\"} 3\n",
            "t_bucket{le=\"10\"} 3\n",
            "t_bucket{le=\"+Inf\"} 4\n",
            "t_sum 20.000201\n",
            "t_count 4\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        assert_eq!(histogram.count(), 4);
        let buckets = histogram.buckets();
        let filled: Vec<_> = buckets.iter().filter(|(_, count)| *count != 0).copied().collect();
        assert_eq!(filled, [(10, 1), (100, 1), (125, 1), (10_000_000, 1)]);
        assert_eq!(histogram.sum(), Duration::from_micros(20_000_201));
    }
}
