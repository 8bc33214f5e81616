//! A large sale whose server is killed (SIGKILL) right behind the last answer, and started again: how long until it is ready, and whether
//! it knows what it has told.

mod told;

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::audit::Audit;
use crate::chunks::{CHUNK, Sender, wrong};
use crate::jobs::Jobs;
use crate::server::{Server, ServerConfig};
use crate::soak::bytes_of;
use crate::token::UserIds;
use crate::{Error, Result};

use told::Told;

/// The server should be ready again this soon.
pub const READY_AFTER_S_MAX: f64 = 10.0;
/// It has failed when it isn't ready after this long.
const READY_LIMIT: Duration = Duration::from_secs(300);
/// How long the settlement of one chunk may take.
const SETTLE_LIMIT: Duration = Duration::from_secs(120);
/// Buyers who are asked before and after, at least.
const SAMPLE: usize = 200;

/// A restart to measure.
#[derive(Debug, Clone)]
pub struct RestartConfig {
    /// The server.
    pub server: ServerConfig,
    /// Buyers of the sale, each of whom gets a unit.
    pub buyers: usize,
    /// Connections of the client.
    pub connections: usize,
}

impl RestartConfig {
    /// Over 64 connections.
    pub fn usual(executable: impl Into<PathBuf>, buyers: usize) -> Self {
        Self {
            server: ServerConfig::of(executable),
            buyers,
            connections: 64,
        }
    }
}

/// A restart and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct RestartReport {
    /// Buyers of the sale.
    pub buyers: usize,
    /// Tickets that waited for their order just before the kill; the last look at them, not the moment itself.
    pub queued_before: u64,
    /// What the journal took on the disk when the server was killed.
    pub journal_bytes: u64,
    /// From the start of the new process until it said that it is ready.
    pub ready_after_s: f64,
    /// Resident memory before the kill.
    pub rss_before_bytes: u64,
    /// Resident memory when it was ready again.
    pub rss_after_bytes: u64,
    /// The largest resident memory until then.
    pub rss_peak_bytes: u64,
    /// Tickets that were compared.
    pub tickets_checked: usize,
    /// Of them, those whose order was known before.
    pub orders_checked: usize,
    /// The conservation equation once everything is settled.
    pub audit: Audit,
    /// What must hold and doesn't.
    pub violations: Vec<String>,
    /// Figures that should be reached and aren't.
    pub missed: Vec<String>,
}

/// Sells, kills, starts again and compares. Blocks.
///
/// # Errors
/// [`Error::Usage`] without buyers, else when the server can't be started, prepared, read or settled, or isn't ready again in five minutes.
pub fn run(config: &RestartConfig) -> Result<RestartReport> {
    if config.buyers == 0 {
        return Err(Error::Usage("a restart takes buyers".into()));
    }
    let mut server = Server::start(&config.server)?;
    let activity_id = server.target().admin.open_sale("restart", config.buyers as u64)?;
    let mut violations = Vec::new();
    let told = sell(config, &server, activity_id, &mut violations)?;
    let queued_before = server
        .target()
        .admin
        .metrics()?
        .sum("seckill_queue_depth")
        .unwrap_or(0.0);
    let journal_bytes = bytes_of(&server.folder().join("data").join("journal"))?;
    let before = server.usage()?;
    let ready_after = server.kill_and_start_again(READY_LIMIT)?;
    let after = server.usage()?;
    for one in &told {
        violations.extend(one.compare(server.target(), activity_id)?);
    }
    let audit = server.target().admin.wait_settled(activity_id, SETTLE_LIMIT)?;
    violations.extend(audit.faults());
    let buyers = config.buyers as u64;
    if audit.accepted != buyers || audit.orders_live != buyers {
        let Audit {
            accepted, orders_live, ..
        } = audit;
        violations.push(format!(
            "{buyers} bought; {accepted} in the audit, {orders_live} orders"
        ));
    }
    server.stop()?;
    let ready_after_s = ready_after.as_secs_f64();
    Ok(RestartReport {
        buyers: config.buyers,
        queued_before: queued_before as u64,
        journal_bytes,
        ready_after_s,
        rss_before_bytes: before.rss_bytes,
        rss_after_bytes: after.rss_bytes,
        rss_peak_bytes: after.rss_peak_bytes,
        tickets_checked: told.len(),
        orders_checked: told.iter().filter(|told| told.order_no.is_some()).count(),
        audit,
        violations,
        missed: missed(ready_after_s).into_iter().collect(),
    })
}

fn missed(ready_after_s: f64) -> Option<String> {
    (READY_AFTER_S_MAX < ready_after_s)
        .then(|| format!("ready again after {ready_after_s:.1} s, {READY_AFTER_S_MAX:.0} wanted"))
}

/// Everybody buys. All but the last chunk are settled before the next comes, and some of their orders read; the last is left as it is.
fn sell(config: &RestartConfig, server: &Server, activity_id: u64, violations: &mut Vec<String>) -> Result<Vec<Told>> {
    let target = server.target();
    let sender = Sender {
        target,
        connections: config.connections,
    };
    let (mut users, mut left, mut told) = (UserIds::random(), config.buyers, Vec::new());
    let each = SAMPLE.div_ceil(config.buyers.div_ceil(CHUNK));
    let write = |count| Jobs::purchases(target.public, activity_id, count, &target.signer, &mut users);
    sender.send(config.buyers, write, |jobs, load| {
        violations.extend(wrong(load, &[202]));
        let mut sample = Told::sample(jobs, load, each);
        left -= jobs.len();
        if 0 < left {
            target.admin.wait_drained(SETTLE_LIMIT)?;
            for one in &mut sample {
                one.read_order(target, activity_id)?;
            }
        }
        told.append(&mut sample);
        Ok(())
    })?;
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_seconds_are_soon_enough() {
        assert_eq!(missed(10.0), None);
        assert_eq!(missed(10.06).unwrap(), "ready again after 10.1 s, 10 wanted");
    }
}
