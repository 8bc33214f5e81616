//! The product against a bare listener, in interleaved pairs.
//!
//! Figures of one machine move by a fifth from run to run, so only ratios of neighbouring runs count. A pair is one run of the bare
//! listener and one of the product, with the same number of requests of the same length over the same connections by the same client;
//! which of the two goes first changes with every pair, so that a drifting machine favours neither.

mod bench;
mod crowd;

use std::path::PathBuf;

use crate::comparison::{Comparison, RatioReport, RunSize};
use crate::server::ServerConfig;
use crate::subject::SubjectConfig;
use crate::{Error, Result};
use bench::{Bench, Order};

/// Fewer pairs say nothing about the spread.
pub const PAIRS_MIN: usize = 5;
/// Runs need this many requests to outlast the 10 ms grain of CPU times.
pub const REQUESTS_MIN: usize = 100;
/// Requests of one run where nothing else is said.
pub const REQUESTS: usize = 60_000;
/// The part of a run's requests that warms both servers up beforehand.
pub(crate) const WARM_UP_PART: usize = 4;

/// How to compare.
#[derive(Debug, Clone)]
pub struct RatioConfig {
    /// The product; its program is the bare listener's too.
    pub product: SubjectConfig,
    /// Pairs of runs, at least [`PAIRS_MIN`].
    pub pairs: usize,
    /// Requests of one run, at least [`REQUESTS_MIN`].
    pub requests: usize,
    /// Connections of the client.
    pub connections: usize,
    /// Client threads.
    pub threads: usize,
}

impl RatioConfig {
    /// Five pairs of 60,000 requests over 64 connections of one client thread.
    pub fn usual(executable: impl Into<PathBuf>) -> Self {
        Self {
            product: SubjectConfig::Alone(ServerConfig::of(executable)),
            pairs: PAIRS_MIN,
            requests: REQUESTS,
            connections: 64,
            threads: 1,
        }
    }

    /// Whether it says anything.
    pub(crate) fn check(&self) -> Result<()> {
        if self.pairs < PAIRS_MIN || self.requests < REQUESTS_MIN {
            return Err(Error::Usage(format!(
                "a comparison takes {PAIRS_MIN} pairs of {REQUESTS_MIN} requests at least"
            )));
        }
        Ok(())
    }
}

/// Runs the pairs of one comparison, on servers of its own. Blocks.
///
/// # Errors
/// [`Error::Usage`] for too few pairs or requests, and for processes of which none settles, else when a server can't be started or prepared.
pub fn compare(comparison: Comparison, config: &RatioConfig) -> Result<RatioReport> {
    config.check()?;
    if let SubjectConfig::Fleet(fleet) = &config.product
        && fleet.workers == 0
    {
        return Err(Error::Usage("orders need one worker at least that writes them".into()));
    }
    let mut bench = Bench::start(comparison, config)?;
    bench.prepare()?;
    bench.pair(config.requests / WARM_UP_PART, Order::BareFirst)?;
    bench.begin()?;
    let mut pairs = Vec::with_capacity(config.pairs);
    for number in 0..config.pairs {
        let order = if number % 2 == 0 {
            Order::BareFirst
        } else {
            Order::ProductFirst
        };
        pairs.push(bench.pair(config.requests, order)?);
    }
    let (beneath, violations) = bench.stop()?;
    let run = RunSize {
        requests: config.requests,
        connections: config.connections,
    };
    Ok(RatioReport::of(comparison, run, pairs, beneath, violations))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_pairs_are_refused() {
        let mut config = RatioConfig::usual("/nowhere");
        config.pairs = 4;
        assert!(matches!(compare(Comparison::Refusals, &config), Err(Error::Usage(_))));
    }
}
