//! What the clock showed, and where a life of the process ended.

use super::Auditor;

impl Auditor {
    /// The clock was moved.
    pub(crate) fn clock_moved(&mut self, now_ms: i64) {
        self.clock.push((self.weather.step(), now_ms));
    }

    /// The latest moment that the clock ever showed.
    pub(crate) fn latest_moment(&self) -> i64 {
        self.clock_between(0, u64::MAX).1
    }

    /// Earliest and latest moment that the clock showed in these steps.
    pub(super) fn clock_between(&self, from: u64, to: u64) -> (i64, i64) {
        let mut shown = (i64::MAX, i64::MIN);
        for (at, &(step, now)) in self.clock.iter().enumerate() {
            let until = self.clock.get(at + 1).map_or(u64::MAX, |next| next.0);
            if step <= to && from <= until {
                shown = (shown.0.min(now), shown.1.max(now));
            }
        }
        shown
    }

    /// The process died: whatever was open is never answered.
    pub(crate) fn process_died(&mut self) {
        let step = self.weather.step();
        let requests = self.requests.iter_mut().map(|request| &mut request.span);
        let sales = self.sales.values_mut();
        let given = sales.flat_map(|sale| {
            let ends = sale.ends.iter_mut().map(|given| &mut given.span);
            ends.chain(sale.statuses.iter_mut().map(|given| &mut given.span))
        });
        let kept = self.kept_switches.iter_mut().map(|given| &mut given.span);
        for span in requests.chain(given).chain(kept) {
            span.ended.get_or_insert(step);
        }
    }
}
