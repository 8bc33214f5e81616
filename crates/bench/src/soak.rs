//! Sale after sale on one process: what it keeps of each. Memory, descriptors, journal must come to rest; the database grows by orders.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::jobs::Jobs;
use crate::load::{self, Load, Progress};
use crate::process::descriptors_of;
use crate::server::{Server, ServerConfig};
use crate::token::UserIds;
use crate::{Error, Result};

/// How long the settlement of one sale may take.
const SETTLE_LIMIT: Duration = Duration::from_secs(60);
/// An id that no activity has.
const UNKNOWN_ACTIVITY: u64 = 9_007_199_254_740_991;
/// Requests that are written out at once.
const WARM_CHUNK: usize = 100_000;
/// Memory may grow by this much a sale in the last half: less than what a sale's buyers cost.
pub const RSS_SLOPE_BYTES_MAX: f64 = 8.0 * 1024.0;
/// The journal may grow to this: 64 MiB of segments start a compaction; its outcome and what comes meanwhile lie beside them.
pub const JOURNAL_BYTES_MAX: u64 = 192 << 20;

/// A soak to run.
#[derive(Clone)]
pub struct SoakConfig {
    /// The server.
    pub server: ServerConfig,
    /// Sales, one after another.
    pub sales: usize,
    /// Units of each.
    pub units: u64,
    /// Users who try, in each; all of them new.
    pub users: usize,
    /// Users who ask in vain beforehand, so that what is bounded is full.
    pub warm_users: usize,
    /// Connections.
    pub connections: usize,
    /// Told how far the run has come.
    pub progress: Option<Progress>,
}

impl SoakConfig {
    /// 200 sales of 1,000 units and 2,000 users, after 400,000 others: more than the cache of verified tokens holds.
    pub fn usual(executable: impl Into<std::path::PathBuf>) -> Self {
        Self {
            server: ServerConfig::of(executable),
            sales: 200,
            units: 1_000,
            users: 2_000,
            warm_users: 400_000,
            connections: 64,
            progress: None,
        }
    }
}

/// What the process holds after a sale.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Holding {
    /// Resident memory.
    pub rss_bytes: u64,
    /// Open descriptors.
    pub descriptors: usize,
    /// What the data folder takes on the disk.
    pub folder_bytes: u64,
    /// The journal's part of it.
    pub journal_bytes: u64,
}

/// A soak and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct SoakReport {
    /// Units of each sale.
    pub units: u64,
    /// Users of each sale.
    pub users: usize,
    /// After each sale.
    pub holdings: Vec<Holding>,
    /// Growth of resident memory a sale over the last half, by least squares.
    pub rss_slope_bytes: f64,
    /// What must hold and doesn't.
    pub violations: Vec<String>,
    /// Figures that should be reached and aren't.
    pub missed: Vec<String>,
}

/// Runs the sales on a server of its own, each audited and closed. Blocks.
///
/// # Errors
/// [`Error::Usage`] for less than 4 sales, else when the server can't be started, prepared, read or settled.
pub fn run(config: &SoakConfig) -> Result<SoakReport> {
    if config.sales < 4 || config.users == 0 {
        return Err(Error::Usage("a soak takes 4 sales at least, and users".into()));
    }
    let server = Server::start(&config.server)?;
    let mut users = UserIds::random();
    warm_up(&server, config, &mut users)?;
    let mut violations = Vec::new();
    let mut holdings = Vec::with_capacity(config.sales);
    for number in 1..=config.sales {
        violations.extend(sale(&server, config, &mut users)?);
        holdings.push(holding(&server)?);
        if let Some(progress) = &config.progress {
            progress(number as u64, config.sales as u64);
        }
    }
    server.stop()?;
    Ok(judge(config, holdings, violations))
}

/// Fills what is bounded, above all the cache of verified tokens, so that the slope shows what grows.
fn warm_up(server: &Server, config: &SoakConfig, users: &mut UserIds) -> Result<()> {
    let target = server.target();
    let mut left = config.warm_users;
    while 0 < left {
        let count = left.min(WARM_CHUNK);
        let jobs = Jobs::purchases(target.public, UNKNOWN_ACTIVITY, count, &target.signer, users);
        load::run(&Load {
            connections: config.connections.min(count),
            ..Load::once_each(target.public, Arc::new(jobs))
        })?;
        left -= count;
    }
    Ok(())
}

fn sale(server: &Server, config: &SoakConfig, users: &mut UserIds) -> Result<Vec<String>> {
    let target = server.target();
    let activity_id = target.admin.open_sale("soak", config.units)?;
    let jobs = Jobs::purchases(target.public, activity_id, config.users, &target.signer, users);
    let load = load::run(&Load {
        connections: config.connections.min(config.users),
        ..Load::once_each(target.public, Arc::new(jobs))
    })?;
    let audit = target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
    target.admin.close(activity_id)?;
    let mut violations = audit.faults();
    let sold = config.units.min(config.users as u64);
    if load.accepted != sold || audit.accepted != sold {
        violations.push(format!(
            "{} accepted, {} in the audit, {sold} to sell",
            load.accepted, audit.accepted
        ));
    }
    Ok(violations)
}

fn holding(server: &Server) -> Result<Holding> {
    let data = server.folder().join("data");
    Ok(Holding {
        rss_bytes: server.usage()?.rss_bytes,
        descriptors: descriptors_of(server.id())?,
        folder_bytes: bytes_of(&data)?,
        journal_bytes: bytes_of(&data.join("journal"))?,
    })
}

/// Blocks that the files below take; a file that goes while it is looked at counts as gone.
fn bytes_of(folder: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        entries => entries.map_err(Error::file("read", folder))?,
    };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry.map_err(Error::file("read", folder))?;
        bytes += match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes_of(&entry.path())?,
            Ok(metadata) => metadata.blocks() * 512,
            Err(_) => 0,
        };
    }
    Ok(bytes)
}

fn judge(config: &SoakConfig, holdings: Vec<Holding>, violations: Vec<String>) -> SoakReport {
    let (first, last) = holdings.split_at(holdings.len() / 2);
    let rss_slope_bytes = slope(last.iter().map(|holding| holding.rss_bytes as f64));
    let descriptors = |half: &[Holding]| half.iter().map(|holding| holding.descriptors).max().unwrap_or(0);
    let mut missed = Vec::new();
    if RSS_SLOPE_BYTES_MAX < rss_slope_bytes {
        missed.push(format!("memory grows by {:.1} KiB a sale", rss_slope_bytes / 1024.0));
    }
    let journal_bytes = holdings.iter().map(|holding| holding.journal_bytes).max().unwrap_or(0);
    if JOURNAL_BYTES_MAX < journal_bytes {
        missed.push(format!("the journal grew to {} MiB", journal_bytes >> 20));
    }
    if descriptors(first) + config.connections < descriptors(last) {
        missed.push(format!(
            "descriptors rose from {} to {}",
            descriptors(first),
            descriptors(last)
        ));
    }
    SoakReport {
        units: config.units,
        users: config.users,
        rss_slope_bytes,
        holdings,
        violations,
        missed,
    }
}

/// By least squares.
fn slope(values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let count = values.len() as f64;
    let (mean_at, mean) = ((count - 1.0) / 2.0, values.clone().sum::<f64>() / count);
    let (mut above, mut below) = (0.0, 0.0);
    for (at, value) in values.enumerate() {
        let from_mean = at as f64 - mean_at;
        above += from_mean * (value - mean);
        below += from_mean * from_mean;
    }
    if below == 0.0 { 0.0 } else { above / below }
}

#[cfg(test)]
#[path = "soak_tests.rs"]
mod tests;
