//! More load than the server can carry: it must go on selling at its pace, refuse the rest in an orderly way, and recover.
//!
//! Four steps on one server, each with a sale of its own: its usual latency at half of its capacity, its capacity (closed loop), the
//! overload (open loop), and the usual load again until it answers as before.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::bottleneck::Bottleneck;
use crate::disk;
use crate::held_disk::{Held, HeldDisk};
use crate::jobs::Jobs;
use crate::load::{self, CONNECTIONS_MAX, Load, Pace};
use crate::outcome::LoadReport;
use crate::server::{Server, ServerConfig};
use crate::target::Target;
use crate::token::UserIds;
use crate::{Error, Result};

/// How long the server may take to be back to normal.
const RECOVERY_LIMIT: Duration = Duration::from_secs(10);
/// How long the p99 of accepted purchases may lie above the store's own time.
const P99_ABOVE_STORE_MS_MAX: f64 = 50.0;
/// A p99 within this of the earlier one counts as back to normal; a p99 of a second's load moves by more than a tenth by itself.
const P99_NOISE_MS: f64 = 20.0;
/// How long the settlement of one step may take.
const SETTLE_LIMIT: Duration = Duration::from_secs(120);
/// Length of one usual load, before and after.
const USUAL_S: f64 = 1.0;
/// Requests that find the capacity roughly, so that the real step has the right length.
const PROBE_REQUESTS: usize = 5_000;

/// An overload to run.
#[derive(Debug, Clone)]
pub struct OverloadConfig {
    /// The server.
    pub server: ServerConfig,
    /// What limits it.
    pub bottleneck: Bottleneck,
    /// How long the overload lasts.
    pub seconds: f64,
    /// Connections; with too few of them the client holds the load back itself.
    pub connections: usize,
    /// Client threads.
    pub threads: usize,
}

/// An overload and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct OverloadReport {
    /// What limited the server.
    pub bottleneck: Bottleneck,
    /// What one step of a store that is held back takes by itself: the delay and the disk's median, in milliseconds.
    pub store_own_ms: Option<f64>,
    /// The best rate of accepted purchases, in a closed loop.
    pub capacity_per_s: f64,
    /// The load that was offered.
    pub offered_per_s: f64,
    /// Half of the capacity, beforehand.
    pub before: LoadReport,
    /// The overload.
    pub overload: LoadReport,
    /// Accepted purchases under overload over the best.
    pub goodput: f64,
    /// How long the server took to be back to normal; `None` when it was not within 10 s.
    pub recovered_after_s: Option<f64>,
    /// What must hold and doesn't.
    pub violations: Vec<String>,
    /// Figures that a run should reach and didn't: a slow machine's fault perhaps, no broken promise.
    pub missed: Vec<String>,
}

/// Runs the four steps on a server of its own. Blocks.
///
/// # Errors
/// [`Error::Usage`] for a length that isn't above 0, else when the server can't be started, prepared or settled.
pub fn run(config: &OverloadConfig) -> Result<OverloadReport> {
    if !config.seconds.is_finite() || config.seconds <= 0.0 {
        return Err(Error::Usage(format!(
            "an overload lasts longer than {} s",
            config.seconds
        )));
    }
    let (mut server, mut held) = (config.server.clone(), None);
    if let Bottleneck::Store { held_ms } = config.bottleneck {
        let disk = HeldDisk::build(Held::Journal, Duration::from_millis(held_ms.into()))?;
        server.environment.extend(disk.environment());
        held = Some(disk);
    }
    let per_ip = (
        "SECKILL_SERVER__CONNECTIONS_PER_IP".to_owned(),
        CONNECTIONS_MAX.to_string(),
    );
    server.environment.push(per_ip);
    let server = Server::start(&server)?;
    let disk = disk::probe(server.folder())?;
    let mut steps = Steps {
        target: server.target().clone(),
        config,
        users: UserIds::random(),
        violations: Vec::new(),
    };
    let rough = steps.step(Pace::Closed, PROBE_REQUESTS)?.accepted_per_s;
    let best = steps.step(Pace::Closed, count(rough, config.seconds))?;
    let capacity_per_s = best.accepted_per_s;
    let usual = Pace::Steady {
        rate_per_s: (capacity_per_s / 2.0).max(1.0),
    };
    let usual_requests = count(capacity_per_s / 2.0, USUAL_S);
    let before = steps.step(usual, usual_requests)?;
    let offered_per_s = (capacity_per_s * config.bottleneck.factor()).max(1.0);
    let overload = steps.step(
        Pace::Steady {
            rate_per_s: offered_per_s,
        },
        count(offered_per_s, config.seconds),
    )?;
    let ended = Instant::now();
    let mut recovered_after_s = None;
    while recovered_after_s.is_none() && ended.elapsed() < RECOVERY_LIMIT {
        let began = ended.elapsed();
        let after = steps.step(usual, usual_requests)?;
        recovered_after_s = is_normal(&after, &before).then_some(began.as_secs_f64());
    }
    let Steps { violations, .. } = steps;
    server.stop()?;
    drop(held);
    let store_own_ms = match config.bottleneck {
        Bottleneck::Store { held_ms } => Some(f64::from(held_ms) + disk.median_ms),
        Bottleneck::Processor => None,
    };
    let mut report = OverloadReport {
        bottleneck: config.bottleneck,
        store_own_ms,
        capacity_per_s,
        offered_per_s,
        goodput: overload.accepted_per_s / capacity_per_s,
        before,
        overload,
        recovered_after_s,
        violations,
        missed: Vec::new(),
    };
    report.missed = missed(&report);
    Ok(report)
}

fn count(rate_per_s: f64, seconds: f64) -> usize {
    (rate_per_s * seconds).ceil().max(1.0) as usize
}

/// Everything was accepted, about as fast as before.
fn is_normal(after: &LoadReport, before: &LoadReport) -> bool {
    let p99_ms_max = (before.accepted_latency.p99_ms * 1.1).max(before.accepted_latency.p99_ms + P99_NOISE_MS);
    after.accepted == after.requests && after.accepted_latency.p99_ms <= p99_ms_max
}

/// What a run should have reached and didn't.
fn missed(report: &OverloadReport) -> Vec<String> {
    let mut missed = Vec::new();
    let (goodput, wanted) = (report.goodput, report.bottleneck.goodput_min());
    if goodput < wanted {
        missed.push(format!("goodput {goodput:.2} of the best, {wanted:.2} wanted"));
    }
    let p99_ms = report.overload.accepted_latency.p99_ms;
    if let Some(own_ms) = report
        .store_own_ms
        .filter(|own_ms| own_ms + P99_ABOVE_STORE_MS_MAX < p99_ms)
    {
        missed.push(format!(
            "p99 of accepted {p99_ms:.1} ms, the store's own time is {own_ms:.1} ms"
        ));
    }
    if report.recovered_after_s.is_none() {
        missed.push(format!("not back to normal within {} s", RECOVERY_LIMIT.as_secs()));
    }
    missed
}

struct Steps<'a> {
    target: Target,
    config: &'a OverloadConfig,
    users: UserIds,
    violations: Vec<String>,
}

impl Steps<'_> {
    /// A sale with a unit for everybody: whoever is refused was refused for the load.
    fn step(&mut self, pace: Pace, requests: usize) -> Result<LoadReport> {
        let target = &self.target;
        let activity_id = target.admin.open_sale("overload", requests as u64)?;
        let jobs = Jobs::purchases(target.public, activity_id, requests, &target.signer, &mut self.users);
        let connections = match pace {
            Pace::Closed => {
                let most = self.config.bottleneck.closed_connections_max();
                self.config.connections.min(most)
            }
            Pace::Steady { .. } | Pace::Rush { .. } => self.config.connections,
        };
        let load = load::run(&Load {
            connections: connections.min(requests),
            threads: self.config.threads,
            pace,
            ..Load::once_each(target.public, Arc::new(jobs))
        })?;
        let audit = target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
        self.violations.extend(audit.faults());
        let known = load.accepted + load.unknown.len() as u64;
        if audit.accepted < load.accepted || known < audit.accepted {
            self.violations.push(format!(
                "{} were accepted, the audit knows {}",
                load.accepted, audit.accepted
            ));
        }
        self.violations.extend(forbidden(&load));
        Ok(load)
    }
}

/// Answers that no load excuses: anything but 2xx, 4xx and 503, and silence.
fn forbidden(load: &LoadReport) -> Vec<String> {
    let allowed = |status: u16| (200..300).contains(&status) || (400..500).contains(&status) || status == 503;
    let wrong = load.outcomes.iter().filter(|outcome| !allowed(outcome.status));
    let mut said: Vec<String> = wrong
        .map(|outcome| format!("{} answers {}", outcome.count, outcome.status))
        .collect();
    said.extend(
        load.unanswered
            .iter()
            .map(|silent| format!("{} requests without an answer: {}", silent.count, silent.reason)),
    );
    said
}

#[cfg(test)]
#[path = "overload_tests.rs"]
mod tests;
