//! How long requests took, purchases apart from the rest, in buckets narrow enough for percentiles. The page shows the wider buckets of
//! every other histogram; each of their bounds is one of these.

use std::sync::Arc;
use std::time::Duration;

use crate::cells::Cells;
use crate::histogram::BOUNDS_US;
use crate::page::{self, Page};
use crate::registry::Collect;
use crate::{Core, Registry};

/// Buckets with a bound.
const BOUNDED: usize = 61;
/// Upper bounds of buckets, in nanoseconds: ten a decade from 10 µs to 10 s, so that a percentile is at most a quarter too high.
pub(crate) const BOUNDS_NS: [u64; BOUNDED] = bounds();
/// All buckets, the one without bound included.
pub(crate) const BUCKETS: usize = BOUNDED + 1;
/// Numbers of one kind of requests: buckets and, behind them, the sum of all durations in nanoseconds.
const KIND_CELLS: usize = BUCKETS + 1;
const SUM: usize = BUCKETS;

const fn bounds() -> [u64; BOUNDED] {
    const STEPS: [u64; 10] = [1_000, 1_250, 1_600, 2_000, 2_500, 3_200, 4_000, 5_000, 6_400, 8_000];
    let mut bounds = [0; BOUNDED];
    let (mut at, mut decade) = (0, 10);
    while at < BOUNDED {
        bounds[at] = STEPS[at % STEPS.len()] * decade;
        at += 1;
        if at % STEPS.len() == 0 {
            decade *= 10;
        }
    }
    bounds
}

/// How long requests took. A clone counts the same.
#[derive(Clone, Debug)]
pub struct RequestDurations {
    cells: Arc<Cells>,
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Other = 0,
    Purchase = 1,
}

impl RequestDurations {
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            cells: Arc::new(Cells::new(cores, 2 * KIND_CELLS)),
        }
    }

    pub(crate) fn register(registry: &Registry, name: &str, help: &str) -> Self {
        registry.add(name, help, page::Kind::Histogram, Self::new(registry.cores))
    }

    /// Counts one duration. A bound belongs to its bucket.
    pub(crate) fn observe(&self, core: Core, kind: Kind, took: Duration) {
        let took_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_NS.partition_point(|bound| *bound < took_ns);
        let first = kind as usize * KIND_CELLS;
        self.cells.add(core, first + bucket, 1);
        self.cells.add(core, first + SUM, took_ns);
    }

    /// Requests counted so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        (0..BUCKETS).map(|bucket| self.both(bucket)).sum()
    }

    /// Purchases by bucket.
    pub(crate) fn purchases(&self) -> [u64; BUCKETS] {
        std::array::from_fn(|bucket| self.cells.sum(Kind::Purchase as usize * KIND_CELLS + bucket))
    }

    fn both(&self, at: usize) -> u64 {
        let of = |kind: Kind| self.cells.sum(kind as usize * KIND_CELLS + at);
        of(Kind::Other).wrapping_add(of(Kind::Purchase))
    }
}

impl Collect for RequestDurations {
    fn collect(&self, name: &str, page: &mut Page) {
        let bucket_name = format!("{name}_bucket");
        let (mut count, mut next) = (0, 0);
        for bound_us in BOUNDS_US {
            while next < BOUNDED && BOUNDS_NS[next] <= bound_us * 1_000 {
                count += self.both(next);
                next += 1;
            }
            let bound = (*bound_us as f64 / 1e6).to_string();
            page.whole(&bucket_name, &[("le", &bound)], count);
        }
        // The count is the last bucket and not a number of its own, so that the two agree while others go on counting.
        count += (next..BUCKETS).map(|bucket| self.both(bucket)).sum::<u64>();
        page.whole(&bucket_name, &[("le", "+Inf")], count);
        page.real(&format!("{name}_sum"), &[], self.both(SUM) as f64 / 1e9);
        page.whole(&format!("{name}_count"), &[], count);
    }
}

/// The duration that `share` (0 to 1) of these do not exceed, in microseconds: the bound of its bucket. 0 where there are none; the largest
/// bound where it lies above it. Each is a bound in microseconds and how many fell below it and above the one before, bounds ascending.
#[must_use]
pub fn percentile_us(buckets: &[(u64, u64)], share: f64) -> u64 {
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let wanted = (all as f64 * share).ceil() as u64;
    let mut seen = 0;
    for (bound_us, count) in buckets {
        seen += count;
        if wanted <= seen && 0 < seen {
            return *bound_us;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_of_the_page_is_one_of_these() {
        assert!(BOUNDS_NS.is_sorted());
        assert_eq!((BOUNDS_NS[0], BOUNDS_NS[BOUNDED - 1]), (10_000, 10_000_000_000));
        for bound in BOUNDS_US {
            assert!(BOUNDS_NS.contains(&(bound * 1_000)), "{bound}");
        }
    }

    #[test]
    fn both_kinds_are_on_the_page_and_purchases_are_told_apart() {
        let durations = RequestDurations::new(2);
        for (core, kind, us) in [
            (Core::new(0), Kind::Other, 0),
            (Core::new(1), Kind::Purchase, 100),
            (Core::OTHER, Kind::Other, 101),
            (Core::new(0), Kind::Purchase, 20_000_000),
        ] {
            durations.observe(core, kind, Duration::from_micros(us));
        }
        let mut page = Page::default();
        durations.collect("t", &mut page);
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
        assert_eq!((durations.count(), durations.purchases().iter().sum::<u64>()), (4, 2));
    }

    #[test]
    fn a_percentile_is_the_bound_below_which_that_share_lies() {
        let buckets = [(10, 50), (20, 49), (40, 0), (80, 1)];
        let at = |share| percentile_us(&buckets, share);
        assert_eq!(
            [at(0.0), at(0.5), at(0.51), at(0.99), at(0.991), at(1.0)],
            [10, 10, 20, 20, 80, 80]
        );
        assert_eq!(percentile_us(&[], 0.5), 0);
    }
}
