//! Metrics with label values that come up while the server runs: activities, reasons. Each family has a bound; label values
//! beyond it are counted under `other`. Looking one up takes a lock, so a hot path keeps the handle it was given.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::page::{Page, Pair};
use crate::registry::Collect;
use crate::{Core, Counter, Gauge};

/// The value of every label of the set that takes what is beyond the bound.
pub(crate) const OTHER: &str = "other";

/// What counters and gauges have in common.
#[derive(Debug)]
struct Sets<M> {
    labels: &'static [&'static str],
    sets_max: usize,
    by_values: Mutex<BTreeMap<Vec<String>, M>>,
}

impl<M: Clone> Sets<M> {
    fn new(labels: &'static [&'static str], sets_max: usize) -> Self {
        assert!(
            !labels.is_empty() && sets_max > 0,
            "a family has a label and room for a set"
        );
        Self {
            labels,
            sets_max,
            by_values: Mutex::default(),
        }
    }

    fn get(&self, values: &[&str], make: impl FnOnce() -> M) -> M {
        assert_eq!(values.len(), self.labels.len(), "a value for each of {:?}", self.labels);
        let key = |values: &[&str]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut by_values = self.by_values.lock();
        let mut key_of_set = key(values);
        if !by_values.contains_key(&key_of_set) && by_values.len() >= self.sets_max {
            key_of_set = key(&vec![OTHER; values.len()]);
        }
        by_values.entry(key_of_set).or_insert_with(make).clone()
    }

    fn each(&self, mut show: impl FnMut(&[Pair<'_>], &M)) {
        for (values, metric) in self.by_values.lock().iter() {
            let pairs: Vec<Pair<'_>> = self
                .labels
                .iter()
                .copied()
                .zip(values.iter().map(String::as_str))
                .collect();
            show(&pairs, metric);
        }
    }
}

/// Counters by label values.
#[derive(Clone, Debug)]
pub struct CounterFamily {
    sets: Arc<Sets<Counter>>,
    cores: usize,
}

impl CounterFamily {
    pub(crate) fn new(cores: usize, labels: &'static [&'static str], sets_max: usize) -> Self {
        Self {
            sets: Arc::new(Sets::new(labels, sets_max)),
            cores,
        }
    }

    /// The counter of these label values, in the order of the labels; of `other` beyond the bound.
    ///
    /// # Panics
    ///
    /// Where the number of values is not that of the labels.
    #[must_use]
    pub fn get(&self, values: &[&str]) -> Counter {
        self.sets.get(values, || Counter::new(self.cores))
    }

    /// Counts one, where that happens seldom enough for a look-up.
    pub fn inc(&self, core: Core, values: &[&str]) {
        self.get(values).inc(core);
    }
}

impl Collect for CounterFamily {
    fn collect(&self, name: &str, page: &mut Page) {
        self.sets
            .each(|labels, counter| page.whole(name, labels, counter.total()));
    }
}

/// Gauges by label values.
#[derive(Clone, Debug)]
pub struct GaugeFamily {
    sets: Arc<Sets<Gauge>>,
}

impl GaugeFamily {
    pub(crate) fn new(labels: &'static [&'static str], sets_max: usize) -> Self {
        Self {
            sets: Arc::new(Sets::new(labels, sets_max)),
        }
    }

    /// The gauge of these label values, in the order of the labels; of `other` beyond the bound.
    ///
    /// # Panics
    ///
    /// Where the number of values is not that of the labels.
    #[must_use]
    pub fn get(&self, values: &[&str]) -> Gauge {
        self.sets.get(values, Gauge::default)
    }

    /// Sets the gauge of these label values.
    pub fn set(&self, values: &[&str], value: f64) {
        self.get(values).set(value);
    }

    /// Drops one set, such as that of an activity that is over. Its room is free again.
    pub fn remove(&self, values: &[&str]) {
        self.sets.by_values.lock().retain(|set, _| set != values);
    }

    /// Drops every set whose values are not kept.
    pub fn retain(&self, mut keep: impl FnMut(&[String]) -> bool) {
        self.sets.by_values.lock().retain(|set, _| keep(set));
    }
}

impl Collect for GaugeFamily {
    fn collect(&self, name: &str, page: &mut Page) {
        self.sets.each(|labels, gauge| page.real(name, labels, gauge.value()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(metric: &impl Collect) -> String {
        let mut page = Page::default();
        metric.collect("m", &mut page);
        page.into_text()
    }

    #[test]
    fn label_values_beyond_the_bound_are_counted_under_other() {
        let family = CounterFamily::new(1, &["reason"], 2);
        for reason in ["a", "b", "c", "d", "a"] {
            family.inc(Core::OTHER, &[reason]);
        }
        assert_eq!(
            shown(&family),
            "m{reason=\"a\"} 2\nm{reason=\"b\"} 1\nm{reason=\"other\"} 2\n"
        );
    }

    #[test]
    fn removed_set_makes_room() {
        let family = GaugeFamily::new(&["activity"], 1);
        family.set(&["1"], 5.0);
        family.remove(&["1"]);
        family.set(&["2"], 7.0);
        assert_eq!(shown(&family), "m{activity=\"2\"} 7\n");
        family.retain(|values| values[0] != "2");
        assert_eq!(shown(&family), "");
    }
}
