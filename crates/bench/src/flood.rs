//! Honest buyers, alone and among a flood of forged requests: what the flood does to their latency.
//!
//! Every forged request has another address, another user or device or activity, half of them a token that nobody signed. Both loads are
//! open loops; each is a quarter of what the server carries for as long as one likes, orders and all, so that together they are half of it.
//! What counts is the ratio of the buyers' p99 in pairs of runs, alone and with the flood. A last flood comes alone: it must cost no memory.
//!
//! A run has its time, and all of them together, since a quarter of what a slow machine carries takes long for so many. What was not sent by
//! then is not sent, and the report says how much of it was.

mod forged;
mod report;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::bots::honest_jobs;
use crate::jobs::Jobs;
use crate::load::{self, Load, Pace};
use crate::outcome::LoadReport;
use crate::server::{Server, ServerConfig};
use crate::{Error, Result};
use forged::forged_jobs;
pub use report::{FloodReport, Pair};

/// Pairs of runs.
const PAIRS: usize = 5;
/// Forged requests of a pair, and of the last flood: a million in all pairs.
const FORGED: usize = 200_000;
/// Buyers of the run that finds how many it takes for a run of [`CAPACITY_RUN_S`].
const PROBE: usize = 20_000;
/// Seconds for which the server must carry its capacity: orders are written meanwhile. For a moment it carries more, and writes them afterwards.
const CAPACITY_RUN_S: f64 = 5.0;
/// Longest time of either run that finds the capacity.
const CAPACITY_RUN_MAX: Duration = Duration::from_secs(10);
/// Tickets that may wait for their orders: more than any machine admits while the capacity is looked for, so that none is refused for them.
const BACKLOG_MAX: u64 = 2_000_000;
const CONNECTIONS: usize = 256;
const SETTLE_LIMIT: Duration = Duration::from_secs(60);
/// No pair is begun that would not end within so many times the longest time of a run: five pairs, the last flood, and what goes before.
pub const RUNS_TIME: u32 = 12;
/// The p99 with the flood should not be longer than so many times that without it.
pub const P99_RATIO_MAX: f64 = 1.2;

/// What is run.
#[derive(Debug, Clone)]
pub struct FloodConfig {
    /// The server.
    pub executable: PathBuf,
    /// Longest time of a run, besides the orders that are still to be written.
    pub run_max: Duration,
}

/// Runs the pairs on a server of its own. Blocks.
///
/// # Errors
/// When the server can't be started, prepared or settled.
pub fn run(config: &FloodConfig) -> Result<FloodReport> {
    let began = Instant::now();
    let run_max = config.run_max;
    let mut server_config = ServerConfig::of(&config.executable);
    server_config.environment.extend(crate::bots::usual_limits());
    let backlog = ("SECKILL_QUEUE__BACKLOG_MAX".to_owned(), BACKLOG_MAX.to_string());
    server_config.environment.push(backlog);
    let server = Server::start(&server_config)?;
    let mut violations = Vec::new();
    let mut closed = |count| {
        let run = Run {
            pace: Pace::Closed,
            count,
            within: CAPACITY_RUN_MAX,
        };
        Ok(honest(&server, run)?.run(&server, &mut violations)?.accepted_per_s)
    };
    let rough = closed(PROBE)?;
    let capacity_per_s = closed(PROBE.max((rough * CAPACITY_RUN_S) as usize))?;
    let offered_per_s = (capacity_per_s / 4.0).max(1.0);
    let offered = Run::steady(offered_per_s, run_max);
    let (mut pairs, mut forged) = (Vec::new(), 0);
    // The first pair is run in any case: without it there is nothing to tell.
    let has_time = || began.elapsed() + 3 * run_max <= RUNS_TIME * run_max;
    while pairs.len() < PAIRS && (pairs.is_empty() || has_time()) {
        let alone = honest(&server, offered)?.run(&server, &mut violations)?;
        let flood = flood(&server, offered);
        let crowd = honest(&server, offered)?;
        let (flooded, flood) = std::thread::scope(|scope| {
            let flood = scope.spawn(move || load::run(&flood));
            let flooded = crowd.run(&server, &mut violations);
            let ended = |_| Error::Usage("the flood's thread ended without a report".into());
            flood.join().map_err(ended).and_then(|flood| Ok((flooded?, flood?)))
        })?;
        forged += checked(&flood, &mut violations);
        pairs.push(Pair {
            alone_ms: alone.accepted_latency.p99_ms,
            flooded_ms: flooded.accepted_latency.p99_ms,
        });
    }
    let before = server.usage()?.rss_bytes;
    let last_forged = checked(&load::run(&flood(&server, offered))?, &mut violations);
    let rss_bytes = [before, server.usage()?.rss_bytes];
    server.stop()?;
    Ok(FloodReport {
        capacity_per_s,
        offered_per_s,
        pairs,
        pairs_wanted: PAIRS,
        forged: forged + last_forged,
        forged_wanted: ((PAIRS + 1) * FORGED) as u64,
        last_forged,
        rss_bytes,
        violations,
    })
}

/// How one load comes.
#[derive(Debug, Clone, Copy)]
struct Run {
    pace: Pace,
    count: usize,
    within: Duration,
}

impl Run {
    /// As many as there should be, or as there is time for.
    fn steady(rate_per_s: f64, within: Duration) -> Self {
        Self {
            pace: Pace::Steady { rate_per_s },
            count: FORGED.min((rate_per_s * within.as_secs_f64()).ceil().max(1.0) as usize),
            within,
        }
    }

    fn load(self, target: std::net::SocketAddr, jobs: Jobs) -> Load {
        Load {
            connections: CONNECTIONS,
            pace: self.pace,
            within: Some(self.within),
            ..Load::once_each(target, Arc::new(jobs))
        }
    }
}

/// People before a sale that has a unit for each.
struct Crowd {
    activity_id: u64,
    load: Load,
}

fn honest(server: &Server, run: Run) -> Result<Crowd> {
    let target = server.target();
    let activity_id = target.admin.open_sale("a sale in a flood", run.count as u64)?;
    let load = run.load(target.public, honest_jobs(target, activity_id, run.count));
    Ok(Crowd { activity_id, load })
}

impl Crowd {
    /// They come, everybody gets his unit, all orders are written and the books balance.
    fn run(self, server: &Server, violations: &mut Vec<String>) -> Result<LoadReport> {
        let load = load::run(&self.load)?;
        violations.extend(crate::chunks::wrong(&load, &[202]));
        let audit = server.target().admin.wait_settled(self.activity_id, SETTLE_LIMIT)?;
        violations.extend(audit.faults());
        Ok(load)
    }
}

fn flood(server: &Server, run: Run) -> Load {
    run.load(server.target().public, forged_jobs(server.target(), run.count))
}

/// How many forged requests were answered; each must have been refused.
fn checked(flood: &LoadReport, violations: &mut Vec<String>) -> u64 {
    violations.extend(crate::chunks::wrong(flood, &[401, 404, 429]));
    flood.answered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_as_many_requests_as_there_is_time_for_and_no_more_than_wanted() {
        let count = |rate_per_s, seconds| Run::steady(rate_per_s, Duration::from_secs(seconds)).count;
        assert_eq!(
            [count(125.0, 30), count(9_000.0, 30), count(0.1, 1)],
            [3_750, FORGED, 1]
        );
    }
}
