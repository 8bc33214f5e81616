//! Counters counted per core, and the text page that shows them.
//!
//! Whatever a request touches is counted in the cache lines of the core that serves it, so that counting makes no two cores wait
//! for each other; the page adds the cores up. Whatever changes with labels that are not known beforehand is bounded: beyond its
//! bound it is counted under `other`, so that nobody can fill memory by inventing values.
//!
//! [`Metrics`] has every metric as a field. [`Registry`] and the types of metrics serve whoever has one of his own.
//! Nothing here reads a wall clock, opens a port or knows what a sale is.

mod cells;
mod core_index;
mod counter;
mod durations;
mod family;
mod gauge;
mod groups;
mod histogram;
mod http;
mod labels;
mod level;
mod metrics;
mod page;
mod process;
mod purchases;
mod recorder;
mod registry;

pub use core_index::Core;
pub use counter::{Counter, Label, Labelled};
pub use durations::{RequestDurations, percentile_us};
pub use family::{CounterFamily, GaugeFamily};
pub use gauge::Gauge;
pub use groups::{Activities, Settlement};
pub use histogram::Histogram;
pub use http::HttpRequests;
pub use labels::{LimitScope, Outcome, ShedReason, StreamKind};
pub use level::{Depth, Level, LevelGuard, Levels, LevelsGuard};
pub use metrics::{Metrics, Setup};
pub use page::CONTENT_TYPE;
pub use purchases::{ACTIVITIES_COUNTED_MAX, OUTCOMES, Outcomes, Purchases};
pub use recorder::{
    ActivitySecond, BEFORE_START_MS, COARSE_SLOTS_MAX, FINE_SLOTS_MAX, Facts, Followed, RECORDINGS_MAX, Recorder,
    Recording, SLOT_MS, Second, Slot,
};
pub use registry::Registry;
