//! More load than the server can carry: it must go on selling at its pace, refuse the rest in an orderly way, and recover.
//!
//! Four steps on one server, each with a sale of its own: its usual latency at half of its capacity, its capacity (closed loop), the
//! overload (open loop), and the usual load again until it answers as before.

mod goals;
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
use slowed::Slowed;
use steps::Steps;

/// Length of one usual load, before and after.
const USUAL_S: f64 = 1.0;
/// Requests that find the capacity roughly, so that the real step has the right length.
const PROBE_REQUESTS: usize = 5_000;

/// An overload to run.
#[derive(Debug, Clone)]
pub struct OverloadConfig {
    /// The product.
    pub product: SubjectConfig,
    /// What limits it; a store on a server only where the product has one.
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
    /// What one step of a store that is held back takes by itself, in milliseconds: the delay and the disk's median, or the median answer of a
    /// server to a `PING` that takes the same way.
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
    let slowed = Slowed::start(config)?;
    let product = Subject::start(slowed.product())?;
    let store_own_ms = slowed.own_ms(&product)?;
    let mut steps = Steps {
        product: &product,
        config,
        users: UserIds::random(),
        violations: Vec::new(),
    };
    let rough = steps.step(Pace::Closed, PROBE_REQUESTS)?.accepted_per_s;
    let best = steps.step(Pace::Closed, count(rough, config.seconds))?;
    if best.accepted == 0 {
        return Err(Error::Usage(format!(
            "nothing was accepted in a closed loop: {:?} {:?}",
            best.outcomes, best.unanswered
        )));
    }
    let capacity_per_s = best.accepted_per_s;
    let usual = Pace::Steady {
        rate_per_s: (capacity_per_s / 2.0).max(1.0),
    };
    let usual_requests = count(capacity_per_s / 2.0, USUAL_S);
    let before = steps.step(usual, usual_requests)?;
    let offered_per_s = (capacity_per_s * config.bottleneck.factor()).max(1.0);
    let storm = Pace::Steady {
        rate_per_s: offered_per_s,
    };
    let overloaded = steps.load(storm, count(offered_per_s, config.seconds))?;
    let ended = Instant::now();
    // Its orders are still being written: nobody waits for that outside.
    let (mut recovered_after_s, mut afterwards) = (None, Vec::new());
    while recovered_after_s.is_none() && ended.elapsed() < RECOVERY_LIMIT {
        let began = ended.elapsed();
        let after = steps.load(usual, usual_requests)?;
        recovered_after_s = is_normal(&after.load, &before).then_some(began.as_secs_f64());
        afterwards.push(after);
    }
    for after in afterwards {
        steps.settle(after)?;
    }
    let overload = steps.settle(overloaded)?;
    let Steps { violations, .. } = steps;
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
