//! Each switch of the operator at several nodes under load: how soon do buyers at the nodes that were not told hear of it?
//!
//! New buyers come to all nodes in an open loop, each once; besides, one marked buyer comes to each node a hundred times a second, who is
//! whom limits and blocks hit. A change is asked for at one node, another one each time, and what counts is what buyers hear at the
//! others: the first answer that shows it, and the first behind the last that contradicts it. All of it is seen from outside.

mod buyers;
mod commands;
mod heard;
mod log;
mod moments;
mod report;
mod stage;
mod switch;
mod times;
mod turning;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rand::random;
use serde_json::json;

use crate::fleet::{Fleet, FleetConfig};
use crate::jobs::Jobs;
use crate::load::{self, Load};
use crate::process::Process;
use crate::token::UserIds;
use crate::{Error, Result};
use buyers::{Buyers, Crowd};
use commands::{Marked, Scene, patch};
use stage::Stage;
use turning::turn_all;

pub use log::Counts;
pub use report::SwitchesReport;
pub use switch::Switch;
pub use times::{FOLLOWED_MS_MAX, Since, SwitchTimes};

/// Nodes at least.
pub const NODES_MIN: usize = 3;
/// New buyers at most and at least, at all nodes together; between them a quarter of what the nodes can accept.
const RATE_PER_S_MAX: f64 = 1_200.0;
const RATE_PER_S_MIN: f64 = 60.0;
/// Purchases of the run that finds what the nodes can do.
const PROBE: usize = 5_000;
const PROBE_CONNECTIONS: usize = 64;
/// Units of the sale: more than buyers come.
const UNITS: u64 = 10_000_000;
const SETTLE_LIMIT: Duration = Duration::from_secs(120);

/// Switches to measure.
#[derive(Debug, Clone)]
pub struct SwitchesConfig {
    /// The nodes; [`NODES_MIN`] that answer buyers and one that writes orders at least.
    pub fleet: FleetConfig,
    /// How often each switch is turned on and off.
    pub repetitions: usize,
    /// How long a change is watched once every node has shown it.
    pub hold: Duration,
}

impl SwitchesConfig {
    /// Each change watched for longer than nodes take to look at the switches again.
    pub fn usual(fleet: FleetConfig, repetitions: usize) -> Self {
        Self {
            fleet: FleetConfig {
                apis: fleet.apis.max(NODES_MIN),
                workers: fleet.workers.max(1),
                ..fleet
            },
            repetitions,
            hold: Duration::from_millis(600),
        }
    }
}

/// Starts the nodes, turns every switch, and audits the sales. Blocks.
///
/// # Errors
/// [`Error::Usage`] without repetitions or nodes, [`Error::TooLate`] where a node does not follow in ten seconds, else when the nodes can't be
/// started, prepared or settled.
pub fn run(config: &SwitchesConfig) -> Result<SwitchesReport> {
    if config.repetitions == 0 || config.fleet.apis < 2 || config.fleet.workers == 0 {
        return Err(Error::Usage(
            "switches take a repetition, two nodes and a worker at least".into(),
        ));
    }
    let mut nodes = config.fleet.clone();
    let proxies = ("SECKILL_SERVER__TRUSTED_PROXIES".to_owned(), "127.0.0.1/32".to_owned());
    nodes.environment.push(proxies);
    let fleet = Fleet::start(&nodes)?;
    let capacity_per_s = probe(&fleet)?;
    let offered_per_s = (capacity_per_s / 4.0).clamp(RATE_PER_S_MIN, RATE_PER_S_MAX);
    let mut stage = set(&fleet, config)?;
    let crowd = Crowd {
        nodes: fleet.target().nodes(),
        rate_per_s: offered_per_s,
        signer: fleet.target().signer.clone(),
        scene: stage.scene.clone(),
    };
    let buyers = Buyers::start(crowd, Arc::clone(&stage.log))?;
    let times = turn_all(&mut stage, &fleet, config.repetitions);
    // Nobody settles while the workers stand still, whatever has ended the turning.
    fleet.workers().iter().for_each(Process::go_on);
    let times = times?;
    buyers.end()?;
    let violations = audited(&stage, &fleet)?;
    fleet.stop()?;
    Ok(SwitchesReport {
        nodes: config.fleet.apis,
        repetitions: config.repetitions,
        capacity_per_s,
        offered_per_s,
        missed: times.iter().filter_map(SwitchTimes::missed).collect(),
        times,
        counts: stage.log.counts(),
        busy: stage.busy,
        violations,
    })
}

/// Purchases a second in a closed loop over all nodes.
fn probe(fleet: &Fleet) -> Result<f64> {
    let target = fleet.target();
    let sale = target.admin.open_sale("what the nodes can do", PROBE as u64)?;
    fleet.wait_known(sale)?;
    let jobs = Jobs::purchases(target.public, sale, PROBE, &target.signer, &mut UserIds::random());
    let load = load::run(&Load {
        others: target.others.clone(),
        connections: PROBE_CONNECTIONS,
        ..Load::once_each(target.public, Arc::new(jobs))
    })?;
    target.admin.wait_settled(sale, SETTLE_LIMIT)?;
    Ok(load.accepted_per_s)
}

/// Two sales, everything open, and nothing that nodes would turn by themselves.
fn set(fleet: &Fleet, config: &SwitchesConfig) -> Result<Stage> {
    let target = fleet.target();
    let sale = target.admin.open_sale("switches", UNITS)?;
    let other_sale = target.admin.open_sale("the marked buyer's", 10)?;
    fleet.wait_known(sale)?;
    fleet.wait_known(other_sale)?;
    target.admin.tell(&patch(json!({"auto_admit": "off"})))?;
    let others = target.other_admins.iter().take(target.others.len());
    Ok(Stage {
        admins: std::iter::once(&target.admin).chain(others).cloned().collect(),
        public: target.public,
        log: Arc::default(),
        scene: Scene {
            sale,
            other_sale,
            marked: Marked {
                user: format!("marked-{:08x}", random::<u32>()),
                address: [198, 51, 100, 7].into(),
                device: "marked-device".to_owned(),
            },
        },
        hold: config.hold,
        wrong: BTreeMap::new(),
        busy: 0,
    })
}

/// What buyers should not have heard, and what the books say otherwise than they.
fn audited(stage: &Stage, fleet: &Fleet) -> Result<Vec<String>> {
    let admin = &fleet.target().admin;
    let mut violations: Vec<_> = stage.violations().collect();
    let counts = stage.log.counts();
    if 0 < counts.unanswered {
        violations.push(format!("{} requests without an answer", counts.unanswered));
    }
    let audit = admin.wait_settled(stage.scene.sale, SETTLE_LIMIT)?;
    violations.extend(audit.faults());
    if audit.accepted < counts.accepted || counts.accepted + counts.unknown < audit.accepted {
        let (heard, knows) = (counts.accepted, audit.accepted);
        violations.push(format!("{heard} buyers were accepted, the audit knows {knows}"));
    }
    let audit = admin.wait_settled(stage.scene.other_sale, SETTLE_LIMIT)?;
    violations.extend(audit.faults());
    if audit.accepted != 1 {
        violations.push(format!("the marked buyer has {} units", audit.accepted));
    }
    Ok(violations)
}
