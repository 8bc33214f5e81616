//! What the console works with: the operator's procedures, the gate of this node, and what it remembers of wrong tokens.

use std::error::Error as StdError;
use std::sync::Arc;

use seckill_api::Readiness;
use seckill_flow::Operator;
use seckill_gate::{Gate, Networks, Switches};
use seckill_ledger::Ledger;
use seckill_metrics::Metrics;
use seckill_sale::EpochMs;
use seckill_stock::Stock;
use tokio::sync::{Mutex, Semaphore};

use crate::auth::AdminToken;
use crate::check::HouseChecks;
use crate::live::{Asked, Live, STREAMS_MAX};
use crate::penalties::Penalties;
use crate::switches::{InForce, Keeping};
use crate::{blocks, eligibility, switches};

/// What the console takes from the settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The operator's token.
    pub token: AdminToken,
    /// Most sub-stocks of an activity that the store can do; 1 on the embedded one.
    pub shards_max: u16,
    /// The address under which browsers reach the console, where a proxy in front changes `Host`: its pages are no foreign ones.
    pub public_url: Option<String>,
    /// Proxies whose `X-Forwarded-For` counts.
    pub trusted_proxies: Networks,
    /// Accepted purchases that may wait for their order where no switch says otherwise, in tickets.
    pub backlog_max: u64,
}

/// What [`Console`] is made of.
pub struct Parts {
    /// Carries out what is asked; also leads to ledger, store and queue.
    pub operator: Arc<Operator>,
    /// The gate of this node: switches and blocks take effect there before a command is answered.
    pub gate: Arc<Gate>,
    /// `/metrics`. It has to be made with the routes of [`crate::ROUTES`], in whatever company.
    pub metrics: Arc<Metrics>,
    /// What `/readyz` says.
    pub readiness: Readiness,
    /// What the process knows of itself, for the checklist.
    pub house_checks: HouseChecks,
    /// This node among the others.
    pub live: Live,
    /// What was set.
    pub settings: Settings,
    /// Tells a body that came too slowly (408) from one that broke off (400): the listener knows its marker.
    pub is_body_timeout: fn(&(dyn StdError + 'static)) -> bool,
}

/// The console of one process.
pub struct Console {
    pub(crate) operator: Arc<Operator>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) readiness: Readiness,
    pub(crate) house_checks: HouseChecks,
    pub(crate) live: Live,
    /// What the store last said of the nodes.
    pub(crate) asked: Asked,
    /// Places of live streams.
    pub(crate) live_places: Arc<Semaphore>,
    pub(crate) settings: Settings,
    pub(crate) is_body_timeout: fn(&(dyn StdError + 'static)) -> bool,
    pub(crate) penalties: Penalties,
    /// Held from reading the switches to putting them in force, so that an older reading never undoes a newer one.
    pub(crate) switching: Mutex<()>,
    /// The switches in force, with what waits for its turn.
    pub(crate) in_force: parking_lot::Mutex<InForce>,
    /// What the store is to keep for the ledger.
    pub(crate) keeping: parking_lot::Mutex<Keeping>,
    /// Held from reading the blocks to putting them in force, for the same reason.
    pub(crate) blocking: Mutex<()>,
    /// Held from writing or reading the lists of users to putting them in force.
    pub(crate) listing: Mutex<()>,
    /// Commands under way, those whose client hung up included.
    pub(crate) writes: Arc<Semaphore>,
    /// Of these, the ones by which a sale is stopped: they have places of their own, since others may wait for a database that hangs.
    pub(crate) brakes: Arc<Semaphore>,
}

/// Commands under way at the same time.
const WRITES_MAX: usize = 64;

impl Console {
    /// A console; to be refreshed before the first buyer is let in.
    #[must_use]
    pub fn new(parts: Parts) -> Arc<Self> {
        let in_force = InForce::new(Switches::clone(&parts.gate.switches()));
        Arc::new(Self {
            operator: parts.operator,
            gate: parts.gate,
            metrics: parts.metrics,
            readiness: parts.readiness,
            house_checks: parts.house_checks,
            live: parts.live,
            asked: Asked::default(),
            live_places: Arc::new(Semaphore::new(STREAMS_MAX)),
            settings: parts.settings,
            is_body_timeout: parts.is_body_timeout,
            penalties: Penalties::default(),
            switching: Mutex::new(()),
            in_force: parking_lot::Mutex::new(in_force),
            keeping: parking_lot::Mutex::default(),
            blocking: Mutex::new(()),
            listing: Mutex::new(()),
            writes: Arc::new(Semaphore::new(WRITES_MAX)),
            brakes: Arc::new(Semaphore::new(WRITES_MAX)),
        })
    }

    /// Puts the switches, blocks and lists of users that the ledger keeps in force on this node: after a start.
    ///
    /// # Errors
    /// The first of them that could not be read, after all were tried; what was in force of it stays so.
    pub async fn refresh(&self) -> Result<(), seckill_ledger::Error> {
        let small = self.refresh_switches_and_blocks().await;
        small.and(self.refresh_lists().await)
    }

    /// The switches and blocks alone, for what other nodes have set: small, and in force everywhere within a second.
    ///
    /// # Errors
    /// As [`Console::refresh`].
    pub async fn refresh_switches_and_blocks(&self) -> Result<(), seckill_ledger::Error> {
        let switches = switches::refresh(self).await;
        switches.and(blocks::refresh(self).await)
    }

    /// Lets no more buyers in than the switches that other nodes have had the store keep. It asks the store alone and waits for nobody, so it
    /// can be called beside the others, which wait for a ledger that does not answer.
    pub async fn watch_switches(&self) {
        switches::watch(self).await;
    }

    /// The lists of users alone. A list of a million takes its time, and an upload is waited for: not to be called where others wait for it.
    ///
    /// # Errors
    /// As [`Console::refresh`].
    pub async fn refresh_lists(&self) -> Result<(), seckill_ledger::Error> {
        eligibility::refresh(self).await
    }

    pub(crate) fn now(&self) -> EpochMs {
        self.stock().now()
    }

    pub(crate) fn stock(&self) -> &dyn Stock {
        &*self.operator.layers().stock
    }

    pub(crate) fn ledger(&self) -> &dyn Ledger {
        &*self.operator.layers().ledger
    }
}
