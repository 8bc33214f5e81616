//! What a run of load has shown: outcomes, latencies, winners, and a picture of it over time. Values only; `tally` fills them.

use std::time::Instant;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::client::Unanswered;

/// One column of the chart.
pub const SLOT_MS: u64 = 100;

/// How many answers had this status and code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OutcomeCount {
    /// HTTP status; 0 gathers what is beyond the limit of kinds.
    pub status: u16,
    /// The body's `code`, where it had one.
    pub code: Option<i32>,
    /// How many.
    pub count: u64,
}

/// How many requests got no answer, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UnansweredCount {
    /// Why.
    pub reason: Unanswered,
    /// How many.
    pub count: u64,
}

/// The outcomes of one tenth of a second, by the time of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// 2xx.
    pub accepted: u64,
    /// 410.
    pub sold_out: u64,
    /// Any other 4xx but 429.
    pub refused: u64,
    /// 429.
    pub limited: u64,
    /// 503.
    pub unavailable: u64,
    /// Everything else that was answered.
    pub failed: u64,
    /// No answer.
    pub unanswered: u64,
}

impl Slot {
    /// The column of the chart that an outcome belongs to.
    pub(crate) fn counter(&mut self, status: Option<u16>) -> &mut u64 {
        match status {
            None => &mut self.unanswered,
            Some(200..=299) => &mut self.accepted,
            Some(410) => &mut self.sold_out,
            Some(429) => &mut self.limited,
            Some(400..=499) => &mut self.refused,
            Some(503) => &mut self.unavailable,
            Some(_) => &mut self.failed,
        }
    }

    /// All of them together.
    pub fn total(&self) -> u64 {
        self.accepted + self.sold_out + self.refused + self.limited + self.unavailable + self.failed + self.unanswered
    }

    /// Adds another column to this one.
    pub fn add(&mut self, other: &Self) {
        self.accepted += other.accepted;
        self.sold_out += other.sold_out;
        self.refused += other.refused;
        self.limited += other.limited;
        self.unavailable += other.unavailable;
        self.failed += other.failed;
        self.unanswered += other.unanswered;
    }
}

/// Latencies in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// How many were measured.
    pub count: u64,
    /// Mean.
    pub mean_ms: f64,
    /// Half were faster.
    pub p50_ms: f64,
    /// Nine of ten were faster.
    pub p90_ms: f64,
    /// 99 % were faster.
    pub p99_ms: f64,
    /// 99.9 % were faster.
    pub p999_ms: f64,
    /// The slowest.
    pub max_ms: f64,
}

impl From<&Histogram<u64>> for Percentiles {
    fn from(histogram: &Histogram<u64>) -> Self {
        let at = |quantile: f64| histogram.value_at_quantile(quantile) as f64 / 1000.0;
        Self {
            count: histogram.len(),
            mean_ms: histogram.mean() / 1000.0,
            p50_ms: at(0.5),
            p90_ms: at(0.9),
            p99_ms: at(0.99),
            p999_ms: at(0.999),
            max_ms: histogram.max() as f64 / 1000.0,
        }
    }
}

/// What a run of load has shown.
#[derive(Debug, Clone, Serialize)]
pub struct LoadReport {
    /// Requests made, answered or not.
    pub requests: u64,
    /// Requests with a complete answer.
    pub answered: u64,
    /// Answers with 2xx.
    pub accepted: u64,
    /// From the start to the last outcome.
    pub duration_s: f64,
    /// Answers a second.
    pub requests_per_s: f64,
    /// 2xx answers a second.
    pub accepted_per_s: f64,
    /// By status and code.
    pub outcomes: Vec<OutcomeCount>,
    /// Requests without an answer, by reason.
    pub unanswered: Vec<UnansweredCount>,
    /// Of all answers, from the intended start.
    pub latency: Percentiles,
    /// Of 2xx answers, from the intended start.
    pub accepted_latency: Percentiles,
    /// Of 2xx answers, from the moment of sending: what the server took, without the wait for a free connection.
    pub accepted_service: Percentiles,
    /// Outcomes per tenth of a second ([`SLOT_MS`]).
    pub series: Vec<Slot>,
    /// Job index and ticket of everybody who got a 202, by index.
    #[serde(skip)]
    pub winners: Vec<(usize, Box<str>)>,
    /// Job index of everybody who may have bought without our knowing: no answer, or a status of 500 or more.
    #[serde(skip)]
    pub unknown: Vec<usize>,
    /// When the load began.
    #[serde(skip)]
    pub started: Instant,
    /// When the last 2xx came.
    #[serde(skip)]
    pub last_accepted: Option<Instant>,
}

impl LoadReport {
    /// How many answers had this status.
    pub fn with_status(&self, status: u16) -> u64 {
        self.outcomes
            .iter()
            .filter(|outcome| outcome.status == status)
            .map(|outcome| outcome.count)
            .sum()
    }

    /// How many answers had a status of 500 or more, but for those that refuse in an orderly way, too busy or backlog full: whether they
    /// kept a unit from being sold shows in what was sold.
    pub fn server_errors(&self) -> u64 {
        let is_refusal =
            |outcome: &OutcomeCount| outcome.status == 503 && matches!(outcome.code, Some(50_300 | 50_301));
        self.outcomes
            .iter()
            .filter(|outcome| 500 <= outcome.status && !is_refusal(outcome))
            .map(|outcome| outcome.count)
            .sum()
    }

    /// How many requests got no answer.
    pub fn unanswered_total(&self) -> u64 {
        self.unanswered.iter().map(|count| count.count).sum()
    }
}
