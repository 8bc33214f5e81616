//! What runs were to the servers of a store: commands and processor time for each request.

use serde::Serialize;

use crate::redis_servers::Work;

/// Commands for 1,000 refusals that a store may see beside what it sees of an idle product. Refusals that were asked for in calls as large as
/// 64 connections can make them would be 16 calls, each with a dozen commands of its script.
pub const COMMANDS_PER_1000_MAX: f64 = 2.0;

/// What the product's runs were to the servers of its store.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoreFigures {
    /// How they keep what they have.
    pub durability: String,
    /// Commands a second while nobody came: leases, refreshes, workers that look for work.
    pub idle_commands_per_s: f64,
    /// Requests of all runs.
    pub requests: u64,
    /// How long the runs took.
    pub seconds: f64,
    /// What the servers did meanwhile, for whomever.
    pub work: Work,
}

impl StoreFigures {
    /// Figures of no run yet.
    pub(crate) fn new(durability: String, idle_commands_per_s: f64) -> Self {
        Self {
            durability,
            idle_commands_per_s,
            requests: 0,
            seconds: 0.0,
            work: Work::default(),
        }
    }

    /// Adds a run.
    pub(crate) fn add(&mut self, requests: u64, seconds: f64, work: Work) {
        self.requests += requests;
        self.seconds += seconds;
        self.work.commands += work.commands;
        self.work.cpu_s += work.cpu_s;
    }

    /// Commands for 1,000 requests, all of them.
    pub fn commands_per_1000(&self) -> f64 {
        self.per_1000(self.work.commands as f64)
    }

    /// The same without those that would have come anyway; never below 0.
    pub fn commands_per_1000_above_idle(&self) -> f64 {
        let idle = self.idle_commands_per_s * self.seconds;
        self.per_1000((self.work.commands as f64 - idle).max(0.0))
    }

    /// Processor time of the servers for a request, in microseconds.
    pub fn cpu_us_per_request(&self) -> f64 {
        self.work.cpu_s * 1e6 / self.requests.max(1) as f64
    }

    fn per_1000(&self, count: f64) -> f64 {
        count * 1000.0 / self.requests.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_have_come_anyway_is_told_apart() {
        let mut figures = StoreFigures::new("AOF everysec".to_owned(), 10.0);
        for _ in 0..2 {
            let work = Work {
                commands: 30,
                cpu_s: 0.002,
            };
            figures.add(500, 1.0, work);
        }
        assert_eq!(
            (figures.commands_per_1000(), figures.commands_per_1000_above_idle()),
            (60.0, 40.0)
        );
        assert_eq!(figures.cpu_us_per_request(), 4.0);
        figures.idle_commands_per_s = 1_000.0;
        assert_eq!(figures.commands_per_1000_above_idle(), 0.0);
    }
}
