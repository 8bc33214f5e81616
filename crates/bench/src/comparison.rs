//! What a comparison with the bare listener is, what it should reach, and what came of it. Values only; `ratios` runs them.

use serde::Serialize;

use crate::disk::DiskProbe;
use crate::figures::{Pair, Spread};
use crate::store_figures::StoreFigures;

/// What is compared with the bare listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Purchases after the sell-out by 20,000 users who press three times each, against a bare `POST`.
    Refusals,
    /// The same, each by a user who was never seen before: his token is verified.
    FirstRefusals,
    /// Purchases that are accepted, each by another user, against a bare `POST`.
    Acceptances,
    /// The activity's page against a bare `GET`.
    ActivityPage,
    /// Winners polling their results against a bare `GET`.
    ResultPoll,
}

/// What a comparison should reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Goal {
    /// The product's rate over the bare listener's, at least.
    pub rate_min: f64,
    /// The product's CPU time a request over the bare listener's, at most.
    pub cpu_max: Option<f64>,
}

impl Comparison {
    /// All of them, in the order of a full run.
    pub const ALL: [Self; 5] = [
        Self::Refusals,
        Self::FirstRefusals,
        Self::Acceptances,
        Self::ActivityPage,
        Self::ResultPoll,
    ];

    /// What it should reach.
    pub fn goal(self) -> Goal {
        match self {
            Self::Refusals => Goal {
                rate_min: 0.80,
                cpu_max: Some(1.25),
            },
            // What a verification of each token costs on a bare listener: the rate that is then left of it.
            Self::FirstRefusals => Goal {
                rate_min: 0.66,
                cpu_max: None,
            },
            Self::Acceptances => Goal {
                rate_min: 0.60,
                cpu_max: None,
            },
            Self::ActivityPage => Goal {
                rate_min: 0.85,
                cpu_max: None,
            },
            Self::ResultPoll => Goal {
                rate_min: 0.75,
                cpu_max: None,
            },
        }
    }

    /// Whether its answers come from memory alone, so that a store on servers hears nothing of them.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Refusals | Self::FirstRefusals)
    }

    /// The one status that its answers may have.
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Refusals | Self::FirstRefusals => 410,
            Self::Acceptances => 202,
            Self::ActivityPage | Self::ResultPoll => 200,
        }
    }
}

/// A comparison and its pairs.
#[derive(Debug, Clone, Serialize)]
pub struct RatioReport {
    /// What was compared.
    pub comparison: Comparison,
    /// What it should reach.
    pub goal: Goal,
    /// Requests of one run.
    pub requests: usize,
    /// Connections of the client.
    pub connections: usize,
    /// The runs.
    pub pairs: Vec<Pair>,
    /// The product's rate over the bare listener's.
    pub rate: Spread,
    /// The product's CPU time a request over the bare listener's.
    pub cpu: Spread,
    /// Whether the medians reach the goal.
    pub reached: bool,
    /// The disk below the data folder, where the store is the product's own.
    pub disk: Option<DiskProbe>,
    /// What the product's runs were to the store, where that is on servers.
    pub store: Option<StoreFigures>,
    /// Wrong answers, failed audits. A fast run that lost a unit is a failed run.
    pub violations: Vec<String>,
}

impl RatioReport {
    /// Ratios of the pairs, which are not empty, held against the goal.
    pub(crate) fn of(
        comparison: Comparison,
        run: RunSize,
        pairs: Vec<Pair>,
        beneath: Beneath,
        violations: Vec<String>,
    ) -> Self {
        let rate = Spread::of(
            pairs
                .iter()
                .map(|pair| pair.product.requests_per_s / pair.bare.requests_per_s),
        );
        let cpu = Spread::of(
            pairs
                .iter()
                .map(|pair| pair.product.cpu_us_per_request / pair.bare.cpu_us_per_request),
        );
        let goal = comparison.goal();
        let reached = goal.rate_min <= rate.median && goal.cpu_max.is_none_or(|most| cpu.median <= most);
        let RunSize { requests, connections } = run;
        let (disk, store) = match beneath {
            Beneath::Disk(disk) => (Some(disk), None),
            Beneath::Servers(store) => (None, Some(store)),
        };
        RatioReport {
            comparison,
            goal,
            requests,
            connections,
            pairs,
            rate,
            cpu,
            reached,
            disk,
            store,
            violations,
        }
    }
}

/// What the product's store stands on.
pub(crate) enum Beneath {
    Disk(DiskProbe),
    Servers(StoreFigures),
}

/// How large every run of a comparison is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunSize {
    pub(crate) requests: usize,
    pub(crate) connections: usize,
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
