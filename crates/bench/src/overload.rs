//! More load than the server can carry: it must go on selling at its pace, refuse the rest in an orderly way, and recover.
//!
//! Four steps on one server, each with a sale of its own: its usual latency at half of its capacity, its capacity (closed loop), the
//! overload (open loop), and the usual load again until it answers as before.

mod goals;
mod report;
mod rude;
mod slowed;
mod steps;

use std::time::Instant;

use serde::Serialize;

use crate::bottleneck::Bottleneck;
use crate::load::Pace;
use crate::outcome::LoadReport;
use crate::subject::{Subject, SubjectConfig};
use crate::token::UserIds;
use crate::{Error, Result};
use goals::{RECOVERY_LIMIT, is_normal, missed};
pub use report::{Look, Memory, OverloadReport};
pub use rude::People;
use slowed::Slowed;
use steps::{Steps, Stormed, count};

/// Length of one usual load, before and after.
const USUAL_S: f64 = 1.0;
/// Requests that find the capacity roughly, so that the real step has the right length.
const PROBE_REQUESTS: usize = 5_000;

/// The capacity is measured for this long at most.
const CAPACITY_S_MAX: f64 = 10.0;
/// Rude clients come in such numbers, over the capacity, whatever limits the server: what they do makes any overload a large one.
const RUDE_FACTOR: f64 = 5.0;

/// Who overloads the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clients {
    /// Each asks once.
    AskOnce,
    /// Whoever is told to come later asks again at once, until he knows, or all leave at the end.
    Rude,
}

/// An overload to run.
#[derive(Debug, Clone)]
pub struct OverloadConfig {
    /// The product.
    pub product: SubjectConfig,
    /// What limits it; a store on a server only where the product has one.
    pub bottleneck: Bottleneck,
    /// Who comes.
    pub clients: Clients,
    /// How long the overload lasts.
    pub seconds: f64,
    /// Connections; with too few of them the client holds the load back itself.
    pub connections: usize,
    /// Client threads of those who ask once.
    pub threads: usize,
}

impl OverloadConfig {
    /// Offered load over capacity.
    fn factor(&self) -> f64 {
        match self.clients {
            Clients::AskOnce => self.bottleneck.factor(),
            Clients::Rude => RUDE_FACTOR,
        }
    }
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
    let slowed = Slowed::start(config)?;
    let product = Subject::start(slowed.product())?;
    let store_own_ms = slowed.own_ms(&product)?;
    let mut steps = Steps {
        product: &product,
        config,
        users: UserIds::random(),
        violations: Vec::new(),
    };
    let capacity_per_s = capacity(&mut steps)?;
    let usual = Usual::of(capacity_per_s);
    let before = steps.step(usual.pace, usual.requests)?;
    let before_bytes = product.usage()?.rss_bytes;
    let offered_per_s = (capacity_per_s * config.factor()).max(1.0);
    let stormed = steps.overload(offered_per_s)?;
    let people = stormed.people.clone();
    // Its orders are still being written: nobody waits for that outside.
    let afterwards = recovery(&mut steps, &usual, &before)?;
    let looks: Vec<_> = afterwards.iter().map(|(look, _)| *look).collect();
    for (_, after) in afterwards {
        steps.settle(after)?;
    }
    let overload = steps.settle(stormed)?;
    let Steps { violations, .. } = steps;
    let usage = product.usage()?;
    product.stop()?;
    drop(slowed);
    let mut report = OverloadReport {
        bottleneck: config.bottleneck,
        store_own_ms,
        capacity_per_s,
        offered_per_s,
        goodput: overload.accepted_per_s / capacity_per_s,
        before,
        overload,
        people,
        memory: Memory {
            before_bytes,
            peak_bytes: usage.rss_peak_bytes,
            after_bytes: usage.rss_bytes,
        },
        recovered_after_s: looks.last().filter(|look| look.is_normal).map(|look| look.began_s),
        looks,
        violations,
        missed: Vec::new(),
    };
    report.missed = missed(&report);
    Ok(report)
}

/// The load at which the server's usual latency is looked at.
struct Usual {
    pace: Pace,
    requests: usize,
}

impl Usual {
    fn of(capacity_per_s: f64) -> Self {
        Self {
            pace: Pace::Steady {
                rate_per_s: (capacity_per_s / 2.0).max(1.0),
            },
            requests: count(capacity_per_s / 2.0, USUAL_S),
        }
    }
}

/// Accepted purchases a second in a closed loop.
fn capacity(steps: &mut Steps<'_>) -> Result<f64> {
    let seconds = steps.config.seconds.min(CAPACITY_S_MAX);
    let rough = steps.step(Pace::Closed, PROBE_REQUESTS)?.accepted_per_s;
    let best = steps.step(Pace::Closed, count(rough, seconds))?;
    if best.accepted == 0 {
        return Err(Error::Usage(format!(
            "nothing was accepted in a closed loop: {:?} {:?}",
            best.outcomes, best.unanswered
        )));
    }
    Ok(best.accepted_per_s)
}

/// The usual load, again and again until it is answered as before; with what is to be settled.
fn recovery(steps: &mut Steps<'_>, usual: &Usual, before: &LoadReport) -> Result<Vec<(Look, Stormed)>> {
    let ended = Instant::now();
    let mut afterwards = Vec::new();
    while ended.elapsed() < RECOVERY_LIMIT {
        let began = ended.elapsed();
        let after = steps.load(usual.pace, usual.requests)?;
        let look = Look::of(&after.load, began, is_normal(&after.load, before));
        afterwards.push((look, after));
        if look.is_normal {
            break;
        }
    }
    Ok(afterwards)
}
