//! Durations in fixed buckets, counted per core.

use std::sync::Arc;
use std::time::Duration;

use crate::Core;
use crate::cells::Cells;
use crate::page::Page;
use crate::registry::Collect;

/// Upper bounds of buckets, in microseconds: from a refusal out of memory to the longest wait anybody has.
pub(crate) const BOUNDS_US: &[u64] = &[
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000,
];

/// Index of the bucket without bound; the sum of all durations in nanoseconds follows it.
const UNBOUNDED: usize = BOUNDS_US.len();
const SUM: usize = UNBOUNDED + 1;

/// How long something took, in buckets from 100 µs to 10 s. A clone counts the same.
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
        let bucket = BOUNDS_US.partition_point(|bound| Duration::from_micros(*bound) < took);
        self.cells.add(core, bucket, 1);
        self.cells
            .add(core, SUM, u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Durations counted so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        (0..=UNBOUNDED).map(|bucket| self.cells.sum(bucket)).sum()
    }
}

impl Collect for Histogram {
    fn collect(&self, name: &str, page: &mut Page) {
        let bucket_name = format!("{name}_bucket");
        let mut count = 0;
        for (bucket, bound) in BOUNDS_US.iter().enumerate() {
            count += self.cells.sum(bucket);
            let bound = (*bound as f64 / 1e6).to_string();
            page.whole(&bucket_name, &[("le", &bound)], count);
        }
        // The count is the last bucket and not a number of its own, so that the two agree while others go on counting.
        count += self.cells.sum(UNBOUNDED);
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
    }
}
