//! What a buyer, an idle result stream and a forged request cost the server in memory, as slopes: the resident memory of the real
//! process at two sizes, over the difference.
//!
//! Everything that is bounded (token cache, limiter, page caches) is filled before the first reading, so that a slope shows what grows.

mod growth;
mod load;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::Result;
use crate::bots::usual_limits;
use crate::chunks::{Sender, wrong};
use crate::held_disk::{Held, HeldDisk};
use crate::jobs::Jobs;
use crate::server::{Server, ServerConfig};
use crate::target::Target;
use crate::token::{Signer, UserIds};

pub use growth::{Grown, Growth};
use growth::{at_rest, growth};
use load::{refused, stranger_jobs, stream};

/// Verified tokens that fill the server's cache, with room to spare.
const WARM_TOKENS: usize = 200_000;
/// How long the settlement of one chunk may take.
const SETTLE_LIMIT: Duration = Duration::from_secs(120);

/// How much of everything is measured.
#[derive(Debug, Clone)]
pub struct MemoryConfig {
    /// The `seckill` program.
    pub executable: PathBuf,
    /// Accepted buyers at the last reading; the first is at a tenth of them.
    pub buyers: usize,
    /// Idle streams at the last reading; the first is at a tenth of them.
    pub streams: usize,
    /// Requests with forged tokens, and as many with a new user, address and activity each.
    pub forged: usize,
    /// Connections of the client.
    pub connections: usize,
    /// How far apart the readings are that show memory at rest.
    pub rest_every: Duration,
}

impl MemoryConfig {
    /// A million buyers, 2,000 streams, a million forged requests.
    pub fn usual(executable: impl Into<PathBuf>) -> Self {
        Self {
            executable: executable.into(),
            buyers: 1_000_000,
            streams: 2_000,
            forged: 1_000_000,
            connections: 64,
            rest_every: Duration::from_millis(500),
        }
    }

    fn sender<'a>(&self, target: &'a Target) -> Sender<'a> {
        Sender {
            target,
            connections: self.connections,
        }
    }
}

/// What was measured.
#[derive(Debug, Clone, Default, Serialize)]
pub struct MemoryReport {
    /// In the order of measuring.
    pub growths: Vec<Growth>,
    /// What must hold and doesn't.
    pub violations: Vec<String>,
}

/// Measures on servers of its own. Blocks for minutes.
///
/// # Errors
/// When a server can't be started, prepared or read, or there is no C compiler.
pub fn run(config: &MemoryConfig) -> Result<MemoryReport> {
    let mut report = MemoryReport::default();
    buyers(config, &mut report)?;
    strangers(config, &mut report)?;
    streams(config, &mut report)?;
    Ok(report)
}

fn buyers(config: &MemoryConfig, report: &mut MemoryReport) -> Result<()> {
    let server = Server::start(&ServerConfig::of(&config.executable))?;
    let target = server.target();
    let sender = config.sender(target);
    let mut users = UserIds::random();
    // Other users than those who buy: what they leave in the token cache is what it holds at most.
    let strangers = |count| stranger_jobs(target.public, count, &target.signer, &mut users);
    refused(
        sender,
        WARM_TOKENS.min(config.buyers),
        strangers,
        &mut report.violations,
    )?;
    let activity_id = target.admin.open_sale("memory", config.buyers as u64)?;
    let first = (config.buyers / 10).max(1);
    let mut rss = [0, 0];
    let mut accepted = 0;
    for (reading, count) in [(0, first), (1, config.buyers - first)] {
        let write = |count| Jobs::purchases(target.public, activity_id, count, &target.signer, &mut users);
        sender.send(count, write, |_, load| {
            accepted += load.accepted;
            report.violations.extend(wrong(load, &[202]));
            target.admin.wait_drained(SETTLE_LIMIT)
        })?;
        rss[reading] = at_rest(&server, config)?;
    }
    let audit = target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
    report.violations.extend(audit.faults());
    if accepted != config.buyers as u64 {
        report
            .violations
            .push(format!("{accepted} of {} buyers were accepted", config.buyers));
    }
    report.growths.push(growth(Grown::Buyers, first, config.buyers, rss));
    server.stop()
}

/// With the usual limits, and behind a proxy that everybody seems to come through.
fn strangers(config: &MemoryConfig, report: &mut MemoryReport) -> Result<()> {
    let mut server = ServerConfig::of(&config.executable);
    server.environment.extend(usual_limits());
    let server = Server::start(&server)?;
    let target = server.target();
    target.admin.open_sale("memory", 1)?;
    let mut users = UserIds::random();
    let stranger = Signer::expiring_in(b"nobody's secret, as long as a secret must be", 3600);
    for (grown, signer) in [(Grown::Strangers, &target.signer), (Grown::ForgedTokens, &stranger)] {
        let mut send_some = |count: usize| {
            let strangers = |count| stranger_jobs(target.public, count, signer, &mut users);
            refused(config.sender(target), count, strangers, &mut report.violations)
        };
        send_some(WARM_TOKENS.min(config.forged))?;
        let before = at_rest(&server, config)?;
        send_some(config.forged)?;
        let rss = [before, at_rest(&server, config)?];
        report.growths.push(growth(grown, 0, config.forged, rss));
    }
    server.stop()
}

/// Streams of tickets that stay queued, because the database's disk hangs.
fn streams(config: &MemoryConfig, report: &mut MemoryReport) -> Result<()> {
    let disk = HeldDisk::build(Held::Database, Duration::ZERO)?;
    let mut server = ServerConfig::of(&config.executable);
    server.environment.extend(disk.environment());
    let per_ip = ("SECKILL_SERVER__CONNECTIONS_PER_IP".to_owned(), "20000".to_owned());
    server.environment.push(per_ip);
    let server = Server::start(&server)?;
    let target = server.target();
    let activity_id = target.admin.open_sale("memory", config.streams as u64)?;
    disk.hang()?;
    let ids: Vec<String> = UserIds::random().take(config.streams).collect();
    let mut jobs = Jobs::with_capacity(ids.len());
    for user in &ids {
        jobs.purchase(target.public, activity_id, user, &target.signer);
    }
    let load = config.sender(target).put(&Arc::new(jobs))?;
    report.violations.extend(wrong(&load, &[202]));
    let first = (config.streams / 10).max(1);
    let (mut open, mut rss) = (Vec::with_capacity(config.streams), [0, 0]);
    for (reading, users) in [(0, &ids[..first]), (1, &ids[first..])] {
        for user in users {
            open.push(stream(target.public, activity_id, &target.signer.token(user))?);
        }
        rss[reading] = at_rest(&server, config)?;
    }
    report.growths.push(growth(Grown::Streams, first, config.streams, rss));
    disk.release()?;
    let audit = target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
    report.violations.extend(audit.faults());
    drop(open);
    server.stop()
}
