//! A bot farm against honest people, once under each set of rules: who gets the units?
//!
//! The farm has a thousand accounts with tokens of their own and rents one /24. Every account presses from the first millisecond of the
//! sale on, thirty times in three seconds. Honest people come from addresses all over, once each, the first of them after the time that a
//! person needs to react; half of them within a second. Each house is a server of its own with the product's default limits and what the
//! rules add.

pub(crate) mod farm;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::jobs::Jobs;
use crate::load::{self, Load, Pace};
use crate::outcome::{LoadReport, Percentiles};
use crate::server::{Server, ServerConfig};
use crate::{Error, Result};
use farm::bot_jobs;
pub(crate) use farm::honest_jobs;

/// Accounts of the farm.
pub const BOTS: usize = 1_000;
/// How often each of them presses.
pub const PRESSES: usize = 30;
/// For so long both come.
const SALE: Duration = Duration::from_secs(3);
/// The quickest honest person: about the fastest reaction to something seen.
const REACTION: Duration = Duration::from_millis(150);
const CONNECTIONS: usize = 256;
const SETTLE_LIMIT: Duration = Duration::from_secs(60);
/// What `limits.network` lets through in [`SALE`]: its burst, and its rate.
const NETWORK_PASSES_MAX: u64 = 50 + 20 * 3;

/// Rules under which the farm comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rules {
    /// The product's defaults.
    Defaults,
    /// Besides, `limits.network = "20/s burst 50"`.
    Network,
}

impl Rules {
    /// All of them, the mildest first.
    pub const ALL: [Self; 2] = [Self::Defaults, Self::Network];

    /// What they are, in a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Defaults => "default limits",
            Self::Network => "and limits.network",
        }
    }

    fn settings(self) -> Vec<(String, String)> {
        let mut settings = usual_limits();
        if self != Self::Defaults {
            settings.push(("SECKILL_LIMITS__NETWORK".to_owned(), "20/s burst 50".to_owned()));
        }
        settings
    }
}

/// The product's limits, which measurements switch off, behind a proxy that everybody comes through.
pub(crate) fn usual_limits() -> Vec<(String, String)> {
    let limits = [
        ("LIMITS__IP", "50/s burst 100"),
        ("LIMITS__USER", "1/s burst 3"),
        ("LIMITS__DEVICE", "2/s burst 5"),
        ("LIMITS__READ", "20/s burst 60"),
        ("SERVER__TRUSTED_PROXIES", "127.0.0.1/32"),
    ];
    let named = |(name, value): (&str, &str)| (format!("SECKILL_{name}"), value.to_owned());
    limits.map(named).to_vec()
}

/// Every limit and rule of the gate switched on, so wide that nobody is refused by it: what the checks themselves cost.
pub fn wide_gates() -> Vec<(String, String)> {
    let limits =
        ["IP", "NETWORK", "USER", "DEVICE", "READ", "ACTIVITY", "NODE"].map(|limit| format!("LIMITS__{limit}"));
    let rules = ["IP", "USER", "DEVICE"].map(|rule| format!("ABUSE__{rule}"));
    let wide = |name: String| (format!("SECKILL_{name}"), "1000000/s burst 1000000".to_owned());
    limits.into_iter().chain(rules).map(wide).collect()
}

/// What came of it under one set of rules.
#[derive(Debug, Clone, Serialize)]
pub struct BotsReport {
    /// The rules.
    pub rules: Rules,
    /// Units on sale.
    pub units: u64,
    /// Honest people who came, once each.
    pub honest: usize,
    /// Units that the farm got.
    pub units_of_bots: u64,
    /// Units that honest people got.
    pub units_of_honest: u64,
    /// What the farm heard: accepted, limited (429), sold out (410).
    pub bots_heard: [u64; 3],
    /// Answers that honest people waited for.
    pub honest_latency: Percentiles,
    /// What must hold and doesn't.
    pub violations: Vec<String>,
}

impl BotsReport {
    /// Share of the units that honest people got, from 0 to 1.
    pub fn honest_share(&self) -> f64 {
        let sold = self.units_of_bots + self.units_of_honest;
        self.units_of_honest as f64 / sold.max(1) as f64
    }
}

/// One sale under each set of rules. Blocks.
///
/// # Errors
/// When a server can't be started, prepared or settled.
pub fn run(server: &ServerConfig, units: u64, honest: usize) -> Result<Vec<BotsReport>> {
    let under = |rules: Rules| {
        let mut config = server.clone();
        config.environment.extend(rules.settings());
        sale(&config, rules, units, honest)
    };
    Rules::ALL.into_iter().map(under).collect()
}

fn sale(config: &ServerConfig, rules: Rules, units: u64, honest: usize) -> Result<BotsReport> {
    let server = Server::start(config)?;
    let target = server.target();
    let activity_id = target.admin.open_sale("a sale with a bot farm", units)?;
    let of_bots = bot_jobs(target, activity_id, BOTS);
    let of_honest = honest_jobs(target, activity_id, honest);
    let storm = load_of(target.public, of_bots, BOTS * PRESSES, steady(BOTS * PRESSES));
    let people = load_of(target.public, of_honest, honest, Pace::Rush { over: SALE });
    let (bots, people) = std::thread::scope(|scope| {
        let storm = scope.spawn(move || load::run(&storm));
        std::thread::sleep(REACTION);
        let people = load::run(&people);
        let ended = |_| Error::Usage("the farm's thread ended without a report".into());
        storm.join().map_err(ended).and_then(|bots| Ok((bots?, people?)))
    })?;
    let audit = target.admin.wait_settled(activity_id, SETTLE_LIMIT)?;
    server.stop()?;
    let mut report = BotsReport {
        rules,
        units,
        honest,
        units_of_bots: bots.accepted,
        units_of_honest: people.accepted,
        bots_heard: [bots.accepted, bots.with_status(429), bots.with_status(410)],
        honest_latency: people.latency,
        violations: audit.faults(),
    };
    report
        .violations
        .extend(faults(&report, &bots, &people, audit.accepted));
    Ok(report)
}

fn steady(requests: usize) -> Pace {
    Pace::Steady {
        rate_per_s: requests as f64 / SALE.as_secs_f64(),
    }
}

fn load_of(target: std::net::SocketAddr, jobs: Jobs, requests: usize, pace: Pace) -> Load {
    Load {
        requests,
        connections: CONNECTIONS,
        pace,
        ..Load::once_each(target, Arc::new(jobs))
    }
}

/// What no rules allow: a unit that nobody paid for in the audit, and a farm that a network's limit lets through.
fn faults(report: &BotsReport, bots: &LoadReport, people: &LoadReport, accepted: u64) -> Vec<String> {
    let mut faults = Vec::new();
    let told = report.units_of_bots + report.units_of_honest;
    let known = told + (bots.unknown.len() + people.unknown.len()) as u64;
    if accepted < told || known < accepted || report.units < accepted {
        faults.push(format!(
            "{told} heard of a unit, the audit knows {accepted} of {}",
            report.units
        ));
    }
    if report.rules != Rules::Defaults && NETWORK_PASSES_MAX < report.units_of_bots {
        let got = report.units_of_bots;
        faults.push(format!(
            "the farm got {got} units, its network's limit allows {NETWORK_PASSES_MAX} attempts"
        ));
    }
    faults
}
