//! The product against a bare listener, in interleaved pairs.
//!
//! Figures of one machine move by a fifth from run to run, so only ratios of neighbouring runs count. A pair is one run of the bare
//! listener and one of the product, with the same number of requests of the same length over the same connections by the same client;
//! which of the two goes first changes with every pair, so that a drifting machine favours neither.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::comparison::{Comparison, RatioReport, RunSize};
use crate::disk;
use crate::figures::{Pair, RunFigures};
use crate::hello::Hello;
use crate::jobs::{Jobs, Request};
use crate::load::{self, Load};
use crate::outcome::LoadReport;
use crate::process::Usage;
use crate::server::{Server, ServerConfig};
use crate::token::UserIds;
use crate::{Error, Result};

/// Fewer pairs say nothing about the spread.
pub const PAIRS_MIN: usize = 5;
/// Runs need this many requests to outlast the 10 ms grain of CPU times.
const REQUESTS_MIN: usize = 100;
/// The part of a run's requests that warms both servers up beforehand.
const WARM_UP_PART: usize = 4;
/// How long the settlement of one run may take.
const SETTLE_LIMIT: Duration = Duration::from_secs(120);
/// People whose results are polled, and who press the button after the sell-out: each of them several times in a run, as people do.
const CROWD_MAX: usize = 20_000;

/// How to compare.
#[derive(Debug, Clone)]
pub struct RatioConfig {
    /// The product's server; its program is the bare listener's too.
    pub server: ServerConfig,
    /// Pairs of runs, at least [`PAIRS_MIN`].
    pub pairs: usize,
    /// Requests of one run.
    pub requests: usize,
    /// Connections of the client.
    pub connections: usize,
    /// Client threads.
    pub threads: usize,
}

impl RatioConfig {
    /// Five pairs of 60,000 requests over 64 connections of one client thread.
    pub fn usual(executable: impl Into<PathBuf>) -> Self {
        let server = ServerConfig::of(executable);
        Self {
            server,
            pairs: PAIRS_MIN,
            requests: 60_000,
            connections: 64,
            threads: 1,
        }
    }
}

/// Runs the pairs of one comparison, on servers of its own. Blocks.
///
/// # Errors
/// [`Error::Usage`] for too few pairs or requests, else when a server can't be started or prepared.
pub fn compare(comparison: Comparison, config: &RatioConfig) -> Result<RatioReport> {
    if config.pairs < PAIRS_MIN || config.requests < REQUESTS_MIN {
        return Err(Error::Usage(format!(
            "a comparison takes {PAIRS_MIN} pairs of {REQUESTS_MIN} requests at least"
        )));
    }
    let hello = Hello::start(&config.server.executable)?;
    let server = Server::start(&config.server)?;
    let disk = disk::probe(server.folder())?;
    let mut bench = Bench {
        comparison,
        config,
        hello,
        server,
        users: UserIds::random(),
        prepared: None,
        violations: Vec::new(),
    };
    bench.prepare()?;
    bench.pair(config.requests / WARM_UP_PART, Order::BareFirst)?;
    let mut pairs = Vec::with_capacity(config.pairs);
    for number in 0..config.pairs {
        let order = if number % 2 == 0 {
            Order::BareFirst
        } else {
            Order::ProductFirst
        };
        pairs.push(bench.pair(config.requests, order)?);
    }
    let Bench {
        hello,
        server,
        violations,
        ..
    } = bench;
    hello.stop()?;
    server.stop()?;
    let run = RunSize {
        requests: config.requests,
        connections: config.connections,
    };
    Ok(RatioReport::of(comparison, run, pairs, disk, violations))
}

#[derive(Clone, Copy)]
enum Order {
    BareFirst,
    ProductFirst,
}

/// What the runs of one comparison share.
struct Bench<'a> {
    comparison: Comparison,
    config: &'a RatioConfig,
    hello: Hello,
    server: Server,
    users: UserIds,
    prepared: Option<Prepared>,
    violations: Vec<String>,
}

/// The sale that refusals, pages and polls ask about.
struct Prepared {
    activity_id: u64,
    /// Tokens of those who ask again and again.
    crowd: Vec<String>,
}

impl Bench<'_> {
    fn prepare(&mut self) -> Result<()> {
        let buyers = match self.comparison {
            Comparison::Acceptances => return Ok(()),
            Comparison::Refusals | Comparison::FirstRefusals | Comparison::ActivityPage => 1,
            Comparison::ResultPoll => self.config.requests.min(CROWD_MAX),
        };
        let units = if self.comparison == Comparison::ActivityPage {
            2
        } else {
            buyers as u64
        };
        let target = self.server.target();
        let activity_id = target.admin.open_sale("comparison", units)?;
        let jobs = Arc::new(Jobs::purchases(
            target.public,
            activity_id,
            buyers,
            &target.signer,
            &mut self.users,
        ));
        let sold = load::run(&self.load(&jobs, target.public, buyers))?;
        target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
        if sold.with_status(202) != buyers as u64 {
            self.violations.push(format!(
                "{} of {buyers} buyers were accepted beforehand",
                sold.with_status(202)
            ));
        }
        let crowd: Vec<String> = if self.comparison == Comparison::ResultPoll {
            sold.winners
                .iter()
                .map(|(index, _)| jobs.user(*index).to_owned())
                .collect()
        } else {
            self.users.by_ref().take(self.config.requests.min(CROWD_MAX)).collect()
        };
        let crowd = crowd.iter().map(|user| target.signer.token(user)).collect();
        self.prepared = Some(Prepared { activity_id, crowd });
        Ok(())
    }

    fn pair(&mut self, requests: usize, order: Order) -> Result<Pair> {
        Ok(match order {
            Order::BareFirst => {
                let bare = self.run_bare(requests)?;
                Pair {
                    bare,
                    product: self.run_product(requests)?,
                }
            }
            Order::ProductFirst => {
                let product = self.run_product(requests)?;
                Pair {
                    bare: self.run_bare(requests)?,
                    product,
                }
            }
        })
    }

    fn run_bare(&mut self, requests: usize) -> Result<RunFigures> {
        let address = self.hello.address();
        let activity_id = self.prepared.as_ref().map_or(1, |prepared| prepared.activity_id);
        let jobs = self.jobs(address, activity_id, requests);
        let before = self.hello.usage()?;
        let load = load::run(&self.load(&Arc::new(jobs), address, requests))?;
        let figures = figures(&load, before, self.hello.usage()?);
        if load.with_status(200) != requests as u64 {
            self.violations
                .push(format!("the bare listener answered {:?}", load.outcomes));
        }
        Ok(figures)
    }

    fn run_product(&mut self, requests: usize) -> Result<RunFigures> {
        let target = self.server.target().clone();
        let activity_id = match &self.prepared {
            Some(prepared) => prepared.activity_id,
            None => target.admin.open_sale("comparison", requests as u64)?,
        };
        let jobs = Arc::new(self.jobs(target.public, activity_id, requests));
        let before = self.server.usage()?;
        let load = load::run(&self.load(&jobs, target.public, requests))?;
        let audit = target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
        let figures = figures(&load, before, self.server.usage()?);
        self.violations.extend(audit.faults());
        if load.with_status(self.comparison.status()) != requests as u64 {
            self.violations.push(format!(
                "the product answered {:?} {:?}",
                load.outcomes, load.unanswered
            ));
        }
        if self.comparison == Comparison::Acceptances && audit.orders_live != requests as u64 {
            self.violations
                .push(format!("{requests} buyers, {} orders", audit.orders_live));
        }
        Ok(figures)
    }

    /// The requests of one run: purchases by people who were never seen before, or what a crowd asks again and again.
    fn jobs(&mut self, address: std::net::SocketAddr, activity_id: u64, requests: usize) -> Jobs {
        let (method, path) = match self.comparison {
            Comparison::ActivityPage => return Jobs::page(address, &format!("/api/activities/{activity_id}")),
            Comparison::Refusals => ("POST", format!("/api/seckill/{activity_id}")),
            Comparison::ResultPoll => ("GET", format!("/api/seckill/result/{activity_id}")),
            Comparison::Acceptances | Comparison::FirstRefusals => {
                let signer = &self.server.target().signer;
                return Jobs::purchases(address, activity_id, requests, signer, &mut self.users);
            }
        };
        let crowd = self.prepared.as_ref().map_or(&[][..], |prepared| &prepared.crowd);
        let mut jobs = Jobs::with_capacity(crowd.len());
        for token in crowd {
            let request = Request {
                method,
                path: &path,
                token: Some(token),
                body: "",
            };
            jobs.push(address, String::new(), request);
        }
        jobs
    }

    fn load(&self, jobs: &Arc<Jobs>, target: std::net::SocketAddr, requests: usize) -> Load {
        let connections = self.config.connections.min(requests);
        Load {
            requests,
            connections,
            threads: self.config.threads,
            ..Load::once_each(target, Arc::clone(jobs))
        }
    }
}

fn figures(load: &LoadReport, before: Usage, after: Usage) -> RunFigures {
    RunFigures {
        requests_per_s: load.requests_per_s,
        cpu_us_per_request: (after.cpu_s - before.cpu_s) * 1e6 / load.answered.max(1) as f64,
        p50_ms: load.latency.p50_ms,
        p99_ms: load.latency.p99_ms,
    }
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
