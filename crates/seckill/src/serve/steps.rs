//! What the store does for each sale, counted as its batches end, and read once a second.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use seckill_flow::{AutoAdmitRule, StoreReading};
use seckill_sale::ActivityId;
use seckill_stock::Step;

/// Counts of all sales since they were read last.
pub(crate) struct Steps(Mutex<Counted>);

struct Counted {
    /// What counts as slow; none: nobody wants to know.
    rule: Option<AutoAdmitRule>,
    since: Instant,
    sales: BTreeMap<ActivityId, Sale>,
}

struct Sale {
    reading: StoreReading,
    /// How long at least one step was under way, and until when that is counted.
    at_work: Duration,
    counted_to: Instant,
}

impl Steps {
    pub(crate) fn new(now: Instant) -> Self {
        Self(Mutex::new(Counted {
            rule: None,
            since: now,
            sales: BTreeMap::new(),
        }))
    }

    /// Counts a step that has ended now.
    pub(crate) fn count(&self, step: Step<'_>, now: Instant) {
        let mut counted = self.0.lock();
        let Counted {
            rule: Some(rule),
            since,
            sales,
        } = &mut *counted
        else {
            return;
        };
        for &(activity, claims) in step.of_sales {
            let sale = sales.entry(activity).or_insert(Sale {
                reading: StoreReading::default(),
                at_work: Duration::ZERO,
                counted_to: *since,
            });
            sale.reading.steps += 1;
            sale.reading.slow += u64::from(rule.is_slow(step.took));
            sale.reading.late += u64::from(rule.is_late(step.took));
            sale.reading.claims += claims as u64;
            // Where several are under way at once the time counts once.
            sale.at_work += step.took.min(now.saturating_duration_since(sale.counted_to));
            sale.counted_to = now;
        }
    }

    /// What the store did for each sale since this was asked last; what counts as slow from now on.
    pub(crate) fn take(&self, rule: Option<AutoAdmitRule>, now: Instant) -> BTreeMap<ActivityId, StoreReading> {
        let mut counted = self.0.lock();
        let sales = std::mem::take(&mut counted.sales);
        let all = now.saturating_duration_since(counted.since).as_secs_f64();
        (counted.rule, counted.since) = (rule, now);
        drop(counted);
        let read = |(activity, sale): (ActivityId, Sale)| {
            let busy = sale.at_work.as_secs_f64() / all.max(f64::EPSILON);
            (activity, StoreReading { busy, ..sale.reading })
        };
        sales.into_iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: AutoAdmitRule = AutoAdmitRule {
        slow_us: 100_000,
        step: 0.1,
    };

    fn activity(id: u64) -> ActivityId {
        ActivityId::new(id).expect("in range")
    }

    #[test]
    fn each_sale_is_counted_for_itself_and_time_once() {
        let began = Instant::now();
        let steps = Steps::new(began);
        let at = |ms| began + Duration::from_millis(ms);
        let count = |took_ms, ended_ms, of_sales: &[(u64, usize)]| {
            let of_sales: Vec<_> = of_sales.iter().map(|&(id, claims)| (activity(id), claims)).collect();
            let step = Step {
                took: Duration::from_millis(took_ms),
                of_sales: &of_sales,
            };
            steps.count(step, at(ended_ms));
        };
        count(1, 1, &[(1, 1)]);
        assert!(steps.take(Some(RULE), at(0)).is_empty(), "nobody wanted to know");
        count(200, 300, &[(1, 5), (2, 1)]);
        count(80, 350, &[(1, 7)]);
        count(60, 500, &[(1, 1)]);
        let read = steps.take(Some(RULE), at(1_000));
        let hot = read[&activity(1)];
        assert_eq!((hot.steps, hot.slow, hot.late, hot.claims), (3, 1, 2, 13));
        assert_eq!((hot.busy * 1e3).round(), 310.0, "200, 50 of the next, and 60");
        let other = read[&activity(2)];
        assert_eq!((other.steps, other.slow, other.claims), (1, 1, 1));
        assert_eq!((other.busy * 1e3).round(), 200.0);
        assert!(steps.take(None, at(2_000)).is_empty());
    }
}
