//! The list of metrics and the page made of it. Registration happens at start-up, so that a wrong or doubled name is a panic there
//! and not a broken page in the night of a sale.

use std::fmt;

use parking_lot::Mutex;

use crate::page::{Kind, Page};
use crate::{
    Counter, CounterFamily, Depth, Gauge, GaugeFamily, Histogram, HttpRequests, Label, Labelled, Level, Levels,
};

/// Something that writes its samples.
pub(crate) trait Collect: Send + Sync {
    /// Writes the samples under the family's name. Families without samples are left out.
    fn collect(&self, name: &str, page: &mut Page);
}

/// A metric that is asked for at each scrape.
struct Asked<F>(F);

impl<F: Fn() -> f64 + Send + Sync> Collect for Asked<F> {
    fn collect(&self, name: &str, page: &mut Page) {
        page.real(name, &[], (self.0)());
    }
}

/// As [`Asked`], for what may not be known: then no sample is shown.
struct AskedMaybe<F>(F);

impl<F: Fn() -> Option<f64> + Send + Sync> Collect for AskedMaybe<F> {
    fn collect(&self, name: &str, page: &mut Page) {
        if let Some(value) = (self.0)() {
            page.real(name, &[], value);
        }
    }
}

/// One sample that never changes.
struct Constant(Vec<(&'static str, String)>);

impl Collect for Constant {
    fn collect(&self, name: &str, page: &mut Page) {
        let labels: Vec<_> = self.0.iter().map(|(label, value)| (*label, value.as_str())).collect();
        page.whole(name, &labels, 1);
    }
}

struct Family {
    name: String,
    help: String,
    kind: Kind,
    source: Box<dyn Collect>,
}

/// All metrics of a process.
pub struct Registry {
    pub(crate) cores: usize,
    families: Mutex<Vec<Family>>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("cores", &self.cores)
            .finish_non_exhaustive()
    }
}

/// Every method that registers panics where the name is taken, is none, or is not of its kind: a counter's ends in `_total`, no
/// other's does.
impl Registry {
    /// A registry for this many per-core runtimes.
    #[must_use]
    pub fn new(cores: usize) -> Self {
        Self {
            cores,
            families: Mutex::default(),
        }
    }

    /// A counter.
    pub fn counter(&self, name: &str, help: &str) -> Counter {
        self.add(name, help, Kind::Counter, Counter::new(self.cores))
    }

    /// A counter for each value of a label.
    pub fn labelled<L: Label>(&self, name: &str, help: &str) -> Labelled<L> {
        self.add(name, help, Kind::Counter, Labelled::new(self.cores))
    }

    /// Counters by labels, at most `sets_max` sets of values and `other`.
    pub fn counter_family(
        &self,
        name: &str,
        help: &str,
        labels: &'static [&'static str],
        sets_max: usize,
    ) -> CounterFamily {
        self.add(
            name,
            help,
            Kind::Counter,
            CounterFamily::new(self.cores, labels, sets_max),
        )
    }

    /// Requests by route, method and status.
    pub fn http_requests(&self, name: &str, help: &str, routes: &[&'static str]) -> HttpRequests {
        self.add(name, help, Kind::Counter, HttpRequests::new(self.cores, routes))
    }

    /// A counter that somebody else counts.
    pub fn counter_fn(&self, name: &str, help: &str, ask: impl Fn() -> f64 + Send + Sync + 'static) {
        self.insert(name, help, Kind::Counter, Box::new(Asked(ask)));
    }

    /// A gauge.
    pub fn gauge(&self, name: &str, help: &str) -> Gauge {
        self.add(name, help, Kind::Gauge, Gauge::default())
    }

    /// Gauges by labels, at most `sets_max` sets of values and `other`.
    pub fn gauge_family(
        &self,
        name: &str,
        help: &str,
        labels: &'static [&'static str],
        sets_max: usize,
    ) -> GaugeFamily {
        self.add(name, help, Kind::Gauge, GaugeFamily::new(labels, sets_max))
    }

    /// A gauge that is asked for at each scrape. The answer must not wait for anything.
    pub fn gauge_fn(&self, name: &str, help: &str, ask: impl Fn() -> f64 + Send + Sync + 'static) {
        self.insert(name, help, Kind::Gauge, Box::new(Asked(ask)));
    }

    /// A level under `name`, its peak since the last scrape under `name_peak`.
    pub fn level(&self, name: &str, help: &str) -> Level {
        let level = self.add(name, help, Kind::Gauge, Level::new(self.cores));
        let peak = level.clone();
        self.peak(name, help, move || peak.take_peak() as f64);
        level
    }

    /// A level for each value of a label.
    pub fn levels<L: Label>(&self, name: &str, help: &str) -> Levels<L> {
        self.add(name, help, Kind::Gauge, Levels::new(self.cores))
    }

    /// A depth under `name`, its peak since the last scrape under `name_peak`.
    pub fn depth(&self, name: &str, help: &str) -> Depth {
        let depth = self.add(name, help, Kind::Gauge, Depth::default());
        let peak = depth.clone();
        self.peak(name, help, move || peak.take_peak() as f64);
        depth
    }

    /// Durations in buckets.
    pub fn histogram(&self, name: &str, help: &str) -> Histogram {
        self.add(name, help, Kind::Histogram, Histogram::new(self.cores))
    }

    /// A constant 1 whose labels tell something, such as the version.
    pub fn info(&self, name: &str, help: &str, labels: Vec<(&'static str, String)>) {
        self.insert(name, help, Kind::Gauge, Box::new(Constant(labels)));
    }

    /// The page, in the format of [`crate::CONTENT_TYPE`]. Peaks begin anew.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = Page::default();
        for family in self.families.lock().iter() {
            let before = page.len();
            page.family(&family.name, &family.help, family.kind);
            let heading = page.len();
            family.source.collect(&family.name, &mut page);
            if page.len() == heading {
                page.truncate(before);
            }
        }
        page.into_text()
    }

    pub(crate) fn gauge_fn_maybe(&self, name: &str, help: &str, ask: impl Fn() -> Option<f64> + Send + Sync + 'static) {
        self.insert(name, help, Kind::Gauge, Box::new(AskedMaybe(ask)));
    }

    pub(crate) fn counter_fn_maybe(
        &self,
        name: &str,
        help: &str,
        ask: impl Fn() -> Option<f64> + Send + Sync + 'static,
    ) {
        self.insert(name, help, Kind::Counter, Box::new(AskedMaybe(ask)));
    }

    fn peak(&self, name: &str, help: &str, take: impl Fn() -> f64 + Send + Sync + 'static) {
        self.gauge_fn(
            &format!("{name}_peak"),
            &format!("{help} The highest since the last scrape."),
            take,
        );
    }

    pub(crate) fn add<M: Collect + Clone + 'static>(&self, name: &str, help: &str, kind: Kind, metric: M) -> M {
        self.insert(name, help, kind, Box::new(metric.clone()));
        metric
    }

    fn insert(&self, name: &str, help: &str, kind: Kind, source: Box<dyn Collect>) {
        assert!(is_name(name), "{name} is a metric's name");
        assert_eq!(
            kind == Kind::Counter,
            name.ends_with("_total"),
            "{name} ends in _total if it is a counter"
        );
        let mut families = self.families.lock();
        assert!(
            families.iter().all(|family| family.name != name),
            "{name} is registered once"
        );
        families.push(Family {
            name: name.to_owned(),
            help: help.to_owned(),
            kind,
            source,
        });
    }
}

fn is_name(name: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "registered once")]
    fn name_is_registered_once() {
        let registry = Registry::new(1);
        registry.gauge("a", "A.");
        registry.gauge("a", "A.");
    }

    #[test]
    #[should_panic(expected = "ends in _total")]
    fn counter_has_the_ending_of_counters() {
        Registry::new(1).counter("a", "A.");
    }

    #[test]
    fn family_without_samples_is_left_out() {
        let registry = Registry::new(1);
        let left = registry.gauge_family("left", "Left.", &["activity"], 1);
        assert_eq!(registry.page(), "");
        left.set(&["1"], 2.0);
        assert!(registry.page().ends_with("\nleft{activity=\"1\"} 2\n"));
    }

    #[test]
    fn peak_is_shown_once_and_begins_anew() {
        let registry = Registry::new(1);
        let depth = registry.depth("depth", "Depth.");
        depth.set(7);
        depth.set(2);
        assert!(registry.page().contains("\ndepth 2\n# HELP depth_peak Depth. The highest since the last scrape.\n# TYPE depth_peak gauge\ndepth_peak 7\n"));
        assert!(registry.page().contains("\ndepth_peak 2\n"));
    }
}
