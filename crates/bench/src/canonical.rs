//! A whole sale: everybody tries once, then it is settled, audited, and a sample of the buyers is asked for their results.
//!
//! With [`SaleConfig::canonical`] it is *the* sale: 10,000 units, 100,000 people. A run that sold one unit too many or too few is a
//! failed run, however fast it was; `verdict` has the conditions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::audit::Audit;
use crate::disk::{self, DiskProbe};
use crate::http::get;
use crate::jobs::Jobs;
use crate::load::{self, Load, Pace, Progress};
use crate::outcome::LoadReport;
use crate::process::Usage;
use crate::server::{Server, ServerConfig};
use crate::target::Target;
use crate::token::UserIds;
use crate::verdict;
use crate::watch::{Seen, Watch};
use crate::{Error, Result};

/// How often the page of an activity that hasn't opened yet is fetched.
const OPEN_LOOK_EVERY: Duration = Duration::from_millis(50);

/// Who else may buy while we do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Nobody: every unit that is sold must be one of ours.
    Alone,
    /// Other people: only what holds for any crowd is checked.
    Shared,
}

/// A sale to run.
#[derive(Clone)]
pub struct SaleConfig {
    /// Units on sale.
    pub units: u64,
    /// People who try, once each.
    pub users: usize,
    /// Connections that they come over.
    pub connections: usize,
    /// Client threads.
    pub threads: usize,
    /// When they come.
    pub pace: Pace,
    /// Who else buys.
    pub audience: Audience,
    /// Winners, and as many losers, who are asked for their results afterwards.
    pub sample: usize,
    /// How long settlement may take after the last answer.
    pub settle_limit: Duration,
    /// The user ids' seed; `None` takes a new one.
    pub seed: Option<u64>,
    /// Told how far the crowd has come.
    pub progress: Option<Progress>,
}

impl std::fmt::Debug for SaleConfig {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "SaleConfig({} units, {} users, {:?})",
            self.units, self.users, self.pace
        )
    }
}

impl SaleConfig {
    /// 10,000 units, 100,000 people over 256 connections in a closed loop.
    pub fn canonical() -> Self {
        Self {
            units: 10_000,
            users: 100_000,
            connections: 256,
            threads: 1,
            pace: Pace::Closed,
            audience: Audience::Alone,
            sample: 200,
            settle_limit: Duration::from_secs(60),
            seed: None,
            progress: None,
        }
    }

    /// A crowd that storms a sale somebody else has opened: half of it comes in the first quarter of the time.
    pub fn crowd(users: usize, over: Duration) -> Self {
        let pace = Pace::Rush { over };
        Self {
            users,
            connections: 256.min(users.max(1)),
            pace,
            audience: Audience::Shared,
            ..Self::canonical()
        }
    }
}

/// How settlement followed the sale.
#[derive(Debug, Clone, Serialize)]
pub struct Settlement {
    /// From the last acceptance to the last written order; `None` where the server doesn't count orders.
    pub last_order_after_ms: Option<f64>,
    /// From the last answer to an empty queue.
    pub settled_after_ms: f64,
    /// What the metrics showed meanwhile.
    pub seen: Seen,
}

/// What the sale took from the server's machine.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ServerCost {
    /// CPU time from the first request to the settled end.
    pub cpu_s: f64,
    /// The same over the requests.
    pub cpu_us_per_request: f64,
    /// Resident memory before.
    pub rss_before_bytes: u64,
    /// The largest resident memory until the end.
    pub rss_peak_bytes: u64,
}

/// A sale and its audit.
#[derive(Debug, Clone, Serialize)]
pub struct SaleReport {
    /// The activity that was stormed.
    pub activity_id: u64,
    /// Units on sale.
    pub units: u64,
    /// People who tried.
    pub users: usize,
    /// Connections they came over.
    pub connections: usize,
    /// The seed of their ids, to run the same again.
    pub seed: u64,
    /// The load.
    pub load: LoadReport,
    /// The conservation equation when nothing was queued any more.
    pub audit: Audit,
    /// How settlement followed.
    pub settlement: Settlement,
    /// People who were asked for their results.
    pub results_checked: usize,
    /// What it cost, where the server is a child of ours.
    pub cost: Option<ServerCost>,
    /// The disk below the data folder, where the server is a child of ours.
    pub disk: Option<DiskProbe>,
    /// What must hold and doesn't. Empty is good.
    pub violations: Vec<String>,
}

/// The last order should be written this soon after the last acceptance.
pub const LAST_ORDER_AFTER_MS_MAX: f64 = 500.0;
/// No intent should ever be older.
pub const OLDEST_INTENT_S_MAX: f64 = 1.0;

impl SaleReport {
    /// Figures that a sale should reach and didn't: a slow machine's fault perhaps, no broken promise.
    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        if let Some(after_ms) = self.settlement.last_order_after_ms
            && LAST_ORDER_AFTER_MS_MAX < after_ms
        {
            missed.push(format!(
                "last order {after_ms:.0} ms after the last acceptance, {LAST_ORDER_AFTER_MS_MAX:.0} wanted"
            ));
        }
        if let Some(oldest_s) = self.settlement.seen.oldest_s_max
            && OLDEST_INTENT_S_MAX < oldest_s
        {
            missed.push(format!(
                "oldest intent {oldest_s:.2} s old, {OLDEST_INTENT_S_MAX:.0} wanted"
            ));
        }
        missed
    }
}

/// Starts a server in a temporary folder, runs the sale on it and ends it. Blocks.
///
/// # Errors
/// When the server can't be started or prepared; a violated condition is no error but stands in the report.
pub fn run_in_temporary_folder(server: &ServerConfig, config: &SaleConfig) -> Result<SaleReport> {
    let server = Server::start(server)?;
    let disk = disk::probe(server.folder())?;
    let target = server.target();
    let activity_id = target.admin.open_sale("canonical sale", config.units)?;
    let before = server.usage().ok();
    let mut report = run_on(target, activity_id, config)?;
    let after = server.usage().ok();
    report.cost = before
        .zip(after)
        .map(|(before, after)| cost(before, after, report.load.answered));
    report.disk = Some(disk);
    server.stop()?;
    Ok(report)
}

/// Opens a sale of its own on a running server and runs it. Blocks.
///
/// # Errors
/// When the server can't be reached or refuses the preparation.
pub fn run_on_target(target: &Target, config: &SaleConfig) -> Result<SaleReport> {
    let activity_id = target.admin.open_sale("canonical sale", config.units)?;
    run_on(target, activity_id, config)
}

/// Runs the crowd of a sale against an activity that is open. Blocks.
///
/// # Errors
/// When the server can't be reached, or isn't settled within the limit.
pub fn run_on(target: &Target, activity_id: u64, config: &SaleConfig) -> Result<SaleReport> {
    let seed = config.seed.unwrap_or_else(rand::random);
    let jobs = Jobs::purchases(
        target.public,
        activity_id,
        config.users,
        &target.signer,
        &mut UserIds::seeded(seed),
    );
    let jobs = Arc::new(jobs);
    let load = Load {
        connections: config.connections,
        threads: config.threads,
        pace: config.pace,
        progress: config.progress.clone(),
        others: target.others.clone(),
        ..Load::once_each(target.public, Arc::clone(&jobs))
    };
    let watch = Watch::start(target.admin.clone(), target.other_admins.clone())?;
    let ran = load::run(&load).and_then(|load| {
        let answered = Instant::now();
        let audit = target.admin.wait_settled(activity_id, config.settle_limit)?;
        Ok((load, audit, answered.elapsed()))
    });
    let mut seen = watch.finish()?;
    let (load, audit, settled_after) = ran?;
    seen.count_from(load.started);
    let last_order_after = load
        .last_accepted
        .zip(seen.last_written)
        .map(|(accepted, written)| written.saturating_duration_since(accepted));
    let mut violations = verdict::of_sale(config, &load, &audit);
    let results_checked = verdict::check_results(target, activity_id, &jobs, &load, config.sample, &mut violations)?;
    Ok(SaleReport {
        activity_id,
        units: config.units,
        users: config.users,
        connections: config.connections,
        seed,
        load,
        audit,
        settlement: Settlement {
            last_order_after_ms: last_order_after.map(|time| time.as_secs_f64() * 1000.0),
            settled_after_ms: settled_after.as_secs_f64() * 1000.0,
            seen,
        },
        results_checked,
        cost: None,
        disk: None,
        violations,
    })
}

/// Waits until the public page says that the activity is open. Blocks.
///
/// # Errors
/// [`Error::TooLate`] when `limit` passes first, [`Error::Io`] when the server can't be reached.
pub fn wait_open(target: &Target, activity_id: u64, limit: Duration) -> Result<()> {
    let end = Instant::now() + limit;
    let path = format!("/api/activities/{activity_id}");
    loop {
        let answer = get(target.public, &path, None)?;
        if answer.json()["data"]["phase"] == "open" {
            return Ok(());
        }
        if end <= Instant::now() {
            return Err(Error::TooLate {
                what: format!("activity {activity_id} did not open"),
                limit_s: limit.as_secs(),
            });
        }
        std::thread::sleep(OPEN_LOOK_EVERY);
    }
}

pub(crate) fn cost(before: Usage, after: Usage, requests: u64) -> ServerCost {
    let cpu_s = after.cpu_s - before.cpu_s;
    ServerCost {
        cpu_s,
        cpu_us_per_request: cpu_s * 1e6 / requests.max(1) as f64,
        rss_before_bytes: before.rss_bytes,
        rss_peak_bytes: after.rss_peak_bytes,
    }
}
