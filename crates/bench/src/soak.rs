//! Sale after sale on one process: what it keeps of each. Memory, descriptors, journal must come to rest; the database grows by orders.

mod holding;
mod judgement;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::chunks::Sender;
use crate::jobs::Jobs;
use crate::load::Progress;
use crate::server::{Server, ServerConfig};
use crate::token::UserIds;
use crate::{Error, Result};

pub use holding::Holding;
pub(crate) use holding::bytes_of;
use holding::holding;
use judgement::growing;
pub use judgement::{JOURNAL_BYTES_MAX, ORDER_DISK_BYTES_MAX, RSS_SLOPE_BYTES_MAX, SALES_JUDGED_MIN, Trend};

/// How long the settlement of one sale may take.
const SETTLE_LIMIT: Duration = Duration::from_secs(60);
/// An id that no activity has.
const UNKNOWN_ACTIVITY: u64 = 9_007_199_254_740_991;
/// The sales may be spread over this long at most: the buyers' tokens are good for an hour more.
const OVER_MAX: Duration = Duration::from_secs(5 * 3600);

/// A soak to run.
#[derive(Clone)]
pub struct SoakConfig {
    /// The server.
    pub server: ServerConfig,
    /// Sales, one after another.
    pub sales: usize,
    /// Begins the sales evenly over this time; without it each begins when the one before it has ended.
    pub over: Option<Duration>,
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
    /// 1,000 sales of 1,000 units and 2,000 users, after 400,000 others: more than the cache of verified tokens holds.
    pub fn usual(executable: impl Into<PathBuf>) -> Self {
        Self {
            server: ServerConfig::of(executable),
            sales: 1_000,
            over: None,
            units: 1_000,
            users: 2_000,
            warm_users: 400_000,
            connections: 64,
            progress: None,
        }
    }
}

/// A soak and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct SoakReport {
    /// Units of each sale.
    pub units: u64,
    /// Users of each sale.
    pub users: usize,
    /// The time that the sales were to be spread over.
    pub over_s: Option<f64>,
    /// From the beginning of the first sale to the end of the last.
    pub took_s: f64,
    /// After each sale.
    pub holdings: Vec<Holding>,
    /// How they have moved.
    pub trend: Trend,
    /// What must hold and doesn't: sales that don't balance, and what grows and shouldn't.
    pub violations: Vec<String>,
    /// Figures that should be reached and aren't.
    pub missed: Vec<String>,
}

/// Runs the sales on a server of its own, each audited and closed. Blocks.
///
/// # Errors
/// [`Error::Usage`] for less than 4 sales or more than 5 hours, else when the server can't be started, prepared, read or settled.
pub fn run(config: &SoakConfig) -> Result<SoakReport> {
    if config.sales < 4 || config.users == 0 {
        return Err(Error::Usage("a soak takes 4 sales at least, and users".into()));
    }
    if config.over.is_some_and(|over| OVER_MAX < over) {
        return Err(Error::Usage("a soak's sales can be spread over 5 hours at most".into()));
    }
    let server = Server::start(&config.server)?;
    let mut users = UserIds::random();
    warm_up(&server, config, &mut users)?;
    let mut violations = Vec::new();
    let mut holdings = Vec::with_capacity(config.sales);
    let began = Instant::now();
    for number in 0..config.sales {
        std::thread::sleep(begins_at(config, number).saturating_sub(began.elapsed()));
        violations.extend(sale(&server, config, &mut users)?);
        holdings.push(holding(&server)?);
        if let Some(progress) = &config.progress {
            progress(number as u64 + 1, config.sales as u64);
        }
    }
    let took = began.elapsed();
    server.stop()?;
    let trend = Trend::of(&holdings, sold(config));
    violations.extend(growing(config, &holdings, &trend));
    Ok(SoakReport {
        units: config.units,
        users: config.users,
        over_s: config.over.map(|over| over.as_secs_f64()),
        took_s: took.as_secs_f64(),
        holdings,
        trend,
        violations,
        missed: missed(config, took),
    })
}

/// When sale `number` begins, from the beginning of the first.
fn begins_at(config: &SoakConfig, number: usize) -> Duration {
    let over = config.over.unwrap_or(Duration::ZERO);
    over.mul_f64(number as f64 / config.sales as f64)
}

fn sold(config: &SoakConfig) -> u64 {
    config.units.min(config.users as u64)
}

/// The last sale has a whole interval to itself; ending later, it began late.
fn missed(config: &SoakConfig, took: Duration) -> Vec<String> {
    let late = config.over.filter(|over| *over < took);
    let said = late.map(|over| {
        format!(
            "the sales took {:.0} s, not {:.0}",
            took.as_secs_f64(),
            over.as_secs_f64()
        )
    });
    said.into_iter().collect()
}

/// Fills what is bounded, above all the cache of verified tokens, so that the slope shows what grows.
fn warm_up(server: &Server, config: &SoakConfig, users: &mut UserIds) -> Result<()> {
    let target = server.target();
    let write = |count| Jobs::purchases(target.public, UNKNOWN_ACTIVITY, count, &target.signer, users);
    sender(server, config).send(config.warm_users, write, |_, _| Ok(()))
}

fn sender<'a>(server: &'a Server, config: &SoakConfig) -> Sender<'a> {
    Sender {
        target: server.target(),
        connections: config.connections,
    }
}

fn sale(server: &Server, config: &SoakConfig, users: &mut UserIds) -> Result<Vec<String>> {
    let target = server.target();
    let activity_id = target.admin.open_sale("soak", config.units)?;
    let jobs = Jobs::purchases(target.public, activity_id, config.users, &target.signer, users);
    let load = sender(server, config).put(&Arc::new(jobs))?;
    let audit = target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
    target.admin.close(activity_id)?;
    let mut violations = audit.faults();
    let sold = sold(config);
    if load.accepted != sold || audit.accepted != sold {
        violations.push(format!(
            "{} accepted, {} in the audit, {sold} to sell",
            load.accepted, audit.accepted
        ));
    }
    Ok(violations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sales_begin_evenly_over_their_time_and_at_once_without_one() {
        let mut config = SoakConfig::usual("x");
        assert_eq!([0, 999].map(|number| begins_at(&config, number)), [Duration::ZERO; 2]);
        assert_eq!(missed(&config, Duration::from_secs(9)), [] as [&str; 0]);
        config.over = Some(Duration::from_secs(6_000));
        assert_eq!(
            [0, 1, 999].map(|number| begins_at(&config, number).as_secs()),
            [0, 6, 5_994]
        );
        assert_eq!(missed(&config, Duration::from_secs(5_999)), [] as [&str; 0]);
        assert_eq!(
            missed(&config, Duration::from_secs(6_100)),
            ["the sales took 6100 s, not 6000"]
        );
    }

    #[test]
    fn soak_that_outlives_its_tokens_is_refused() {
        let config = SoakConfig {
            over: Some(Duration::from_secs(6 * 3600)),
            ..SoakConfig::usual("x")
        };
        assert!(matches!(run(&config), Err(Error::Usage(_))));
    }
}
