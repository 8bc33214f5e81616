//! Honest buyers, alone and among a flood of forged requests: what the flood does to their latency.
//!
//! Every forged request has another address, another user or device or activity, half of them a token that nobody signed. Both loads are
//! open loops; each is a quarter of what the server carries for as long as one likes, orders and all, so that together they are half of it.
//! What counts is the ratio of the buyers' p99 in pairs of runs, alone and with the flood. A last flood comes alone: it must cost no memory.

mod forged;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::bots::honest_jobs;
use crate::jobs::Jobs;
use crate::load::{self, Load, Pace};
use crate::outcome::LoadReport;
use crate::server::{Server, ServerConfig};
use crate::{Error, Result};
use forged::forged_jobs;

/// Pairs of runs.
const PAIRS: usize = 5;
/// Forged requests of a pair: a million in all pairs.
const FORGED: usize = 200_000;
/// Buyers of the run that finds how many it takes for a run of [`CAPACITY_RUN_S`].
const PROBE: usize = 20_000;
/// Seconds for which the server must carry its capacity: orders are written meanwhile. For a moment it carries more, and writes them afterwards.
const CAPACITY_RUN_S: f64 = 5.0;
const CONNECTIONS: usize = 256;
const SETTLE_LIMIT: Duration = Duration::from_secs(120);
/// The p99 with the flood should not be longer than so many times that without it.
pub const P99_RATIO_MAX: f64 = 1.2;

/// One pair of runs.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Pair {
    /// p99 of accepted purchases without the flood, in milliseconds.
    pub alone_ms: f64,
    /// The same with it.
    pub flooded_ms: f64,
}

/// What the flood did.
#[derive(Debug, Clone, Serialize)]
pub struct FloodReport {
    /// Purchases a second in a closed loop that lasts some seconds, while their orders are written.
    pub capacity_per_s: f64,
    /// Honest purchases a second, and as many forged requests.
    pub offered_per_s: f64,
    /// In the order of running.
    pub pairs: Vec<Pair>,
    /// Forged requests in all.
    pub forged: u64,
    /// Forged requests of the last flood, which comes alone.
    pub last_forged: u64,
    /// Resident memory before and after it, in bytes.
    pub rss_bytes: [u64; 2],
    /// What must hold and doesn't.
    pub violations: Vec<String>,
}

impl FloodReport {
    /// Median of the pairs' ratios.
    pub fn ratio(&self) -> f64 {
        let mut ratios: Vec<f64> = self.pairs.iter().map(|pair| pair.flooded_ms / pair.alone_ms).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Runs the pairs on a server of its own. Blocks.
///
/// # Errors
/// When the server can't be started, prepared or settled.
pub fn run(executable: &std::path::Path) -> Result<FloodReport> {
    let mut config = ServerConfig::of(executable);
    config.environment.extend(crate::bots::usual_limits());
    let server = Server::start(&config)?;
    let mut violations = Vec::new();
    let mut closed = |count| {
        Ok(honest(&server, count, Pace::Closed)?
            .run(&server, &mut violations)?
            .accepted_per_s)
    };
    let rough = closed(PROBE)?;
    let capacity_per_s = closed(PROBE.max((rough * CAPACITY_RUN_S) as usize))?;
    let offered_per_s = (capacity_per_s / 4.0).max(1.0);
    let pace = Pace::Steady {
        rate_per_s: offered_per_s,
    };
    let (mut pairs, mut forged) = (Vec::new(), 0);
    for _ in 0..PAIRS {
        let alone = honest(&server, FORGED, pace)?.run(&server, &mut violations)?;
        let flood = flood(&server, pace);
        let crowd = honest(&server, FORGED, pace)?;
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
    let last_forged = checked(&load::run(&flood(&server, pace))?, &mut violations);
    let rss_bytes = [before, server.usage()?.rss_bytes];
    server.stop()?;
    Ok(FloodReport {
        capacity_per_s,
        offered_per_s,
        pairs,
        forged: forged + last_forged,
        last_forged,
        rss_bytes,
        violations,
    })
}

/// People before a sale that has a unit for each.
struct Crowd {
    activity_id: u64,
    load: Load,
}

fn honest(server: &Server, count: usize, pace: Pace) -> Result<Crowd> {
    let target = server.target();
    let activity_id = target.admin.open_sale("a sale in a flood", count as u64)?;
    let jobs = honest_jobs(target, activity_id, count);
    let load = load_of(target.public, jobs, pace);
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

fn flood(server: &Server, pace: Pace) -> Load {
    load_of(server.target().public, forged_jobs(server.target(), FORGED), pace)
}

/// How many forged requests were answered; each must have been refused.
fn checked(flood: &LoadReport, violations: &mut Vec<String>) -> u64 {
    violations.extend(crate::chunks::wrong(flood, &[401, 404, 429]));
    flood.answered
}

fn load_of(target: std::net::SocketAddr, jobs: Jobs, pace: Pace) -> Load {
    Load {
        connections: CONNECTIONS,
        pace,
        ..Load::once_each(target, Arc::new(jobs))
    }
}
