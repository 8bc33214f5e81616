//! Accepted purchases on Redis, against the articles' algorithm and against a bare `POST`, in interleaved rounds of all three.
//!
//! All three have the same accept loop; the product and the articles' algorithm check tokens alike and share one Redis. Nobody settles: what
//! is compared is the entrance. Who goes first changes with every round, so that a drifting machine favours nobody.

mod bench;

use serde::Serialize;

use crate::figures::{RunFigures, Spread};
use crate::fleet::FleetConfig;
use crate::ratios::{PAIRS_MIN, REQUESTS, RatioConfig, WARM_UP_PART};
use crate::subject::SubjectConfig;
use crate::{Error, Result};
use bench::Bench;

/// The product's rate over that of the articles' algorithm, at least.
pub const NAIVE_RATE_MIN: f64 = 1.25;
/// The product's rate over the bare listener's, at least.
pub const BARE_RATE_MIN: f64 = 0.55;

/// How to compare.
#[derive(Debug, Clone)]
pub struct ArticleConfig {
    /// The product's processes. However many workers are named, none is started.
    pub fleet: FleetConfig,
    /// Rounds, at least [`PAIRS_MIN`].
    pub rounds: usize,
    /// Purchases of one run.
    pub requests: usize,
    /// Connections of the client.
    pub connections: usize,
    /// Client threads.
    pub threads: usize,
}

impl ArticleConfig {
    /// Five rounds of 60,000 requests over 256 connections of one client thread.
    pub fn usual(fleet: FleetConfig) -> Self {
        Self {
            fleet,
            rounds: PAIRS_MIN,
            requests: REQUESTS,
            connections: 256,
            threads: 1,
        }
    }

    /// The same settings as those of a comparison in pairs.
    fn ratios(&self) -> RatioConfig {
        RatioConfig {
            product: SubjectConfig::Fleet(self.fleet.clone()),
            pairs: self.rounds,
            requests: self.requests,
            connections: self.connections,
            threads: self.threads,
        }
    }
}

/// A run of something on the store.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StoreRun {
    /// As every run.
    pub run: RunFigures,
    /// Processor time of the store's servers for a purchase, in microseconds.
    pub store_cpu_us: f64,
}

/// One run of each.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Round {
    /// The bare listener.
    pub bare: RunFigures,
    /// The articles' algorithm.
    pub naive: StoreRun,
    /// The product.
    pub product: StoreRun,
}

/// The rounds, and what came of them.
#[derive(Debug, Clone, Serialize)]
pub struct ArticleReport {
    /// How the store keeps what it has.
    pub durability: String,
    /// Purchases of one run.
    pub requests: usize,
    /// Connections of the client.
    pub connections: usize,
    /// The runs.
    pub rounds: Vec<Round>,
    /// The product's rate over that of the articles' algorithm.
    pub rate_over_naive: Spread,
    /// The product's rate over the bare listener's.
    pub rate_over_bare: Spread,
    /// CPU time of the product's processes for a purchase over that of the articles' algorithm.
    pub cpu_over_naive: Spread,
    /// CPU time of the store's servers for a purchase, likewise.
    pub store_cpu_over_naive: Spread,
    /// Wrong answers, failed audits of either.
    pub violations: Vec<String>,
}

impl ArticleReport {
    fn of(config: &ArticleConfig, durability: String, rounds: Vec<Round>, violations: Vec<String>) -> Self {
        let spread = |ratio: fn(&Round) -> f64| Spread::of(rounds.iter().map(ratio));
        Self {
            durability,
            requests: config.requests,
            connections: config.connections,
            rate_over_naive: spread(|round| round.product.run.requests_per_s / round.naive.run.requests_per_s),
            rate_over_bare: spread(|round| round.product.run.requests_per_s / round.bare.requests_per_s),
            cpu_over_naive: spread(|round| round.product.run.cpu_us_per_request / round.naive.run.cpu_us_per_request),
            store_cpu_over_naive: spread(|round| round.product.store_cpu_us / round.naive.store_cpu_us),
            rounds,
            violations,
        }
    }
}

/// Runs the rounds, on processes of its own and a store that runs already. Blocks.
///
/// # Errors
/// [`Error::Usage`] for too few rounds or requests and for a store that is not one Redis, else when something can't be started or prepared.
pub fn compare(config: &ArticleConfig) -> Result<ArticleReport> {
    config.ratios().check()?;
    if !config.fleet.store.starts_with("redis://") {
        return Err(Error::Usage(
            "the articles' algorithm has one Redis: its address must be redis://host:port".into(),
        ));
    }
    let mut bench = Bench::start(config)?;
    bench.round(config.requests / WARM_UP_PART, 0)?;
    let rounds: Result<Vec<_>> = (0..config.rounds)
        .map(|number| bench.round(config.requests, number))
        .collect();
    let (durability, violations) = bench.stop()?;
    Ok(ArticleReport::of(config, durability, rounds?, violations))
}

#[cfg(test)]
#[path = "article_tests.rs"]
mod tests;
