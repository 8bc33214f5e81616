//! A node: every part made once, and handed to those that need it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use parking_lot::Mutex;
use seckill_api::Readiness;
use seckill_flow::{
    Operator, Pace, Results, Scheduler, SchedulerSettings, Settle, SettleOptions, Worker, WorkerCounts, Yielding,
};
use seckill_gate::{Gate, Switches};
use seckill_ledger::{Ledger, StoredSwitches};
use seckill_metrics::{Core, Metrics, Setup};
use seckill_queue::Queue;
use seckill_settings::{Settings, StoreUrl};
use seckill_stock::{Member, Stock};
use tokio_util::sync::CancellationToken;

use super::Patience;
use super::access;
use super::fences::Fences;
use super::fingerprints;
use super::key_file;
use super::layers::{Layers, Opened, block_on};
use super::membership::Membership;
use super::operator_settings;
use super::own_name::OwnName;
use super::roles::Roles;
use super::secrets;
use super::steps::Steps;
use super::store::Store;
use crate::exit::Failure;

/// Tokens that end the parts, in the order of the shutdown.
#[derive(Clone, Default)]
pub(crate) struct Shutdown {
    /// Result streams say goodbye.
    pub(crate) streams: CancellationToken,
    /// The listeners take no more connections and finish what is open.
    pub(crate) listeners: CancellationToken,
    /// Workers and scheduler finish what they have begun.
    pub(crate) house: CancellationToken,
}

/// All parts of a running node.
pub(crate) struct Node {
    pub(crate) settings: Settings,
    pub(crate) roles: Roles,
    pub(crate) stock: Arc<dyn Stock>,
    pub(crate) queue: Arc<dyn Queue>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) results: Arc<Results>,
    pub(crate) pace: Arc<Pace>,
    pub(crate) operator: Arc<Operator>,
    pub(crate) membership: Membership,
    pub(crate) fences: Fences,
    pub(crate) metrics: Arc<Metrics>,
    /// What the store does for each sale.
    pub(crate) steps: Arc<Steps>,
    pub(crate) counts: Arc<WorkerCounts>,
    pub(crate) readiness: Readiness,
    /// Where the keys of tokens come from a file.
    pub(crate) key_file: Option<Arc<key_file::Watched>>,
    pub(crate) shutdown: Shutdown,
    /// Dropped last: closes journal and database.
    pub(crate) layers: Mutex<Option<Layers>>,
}

impl Node {
    /// Puts a node together over opened layers. Nothing listens yet.
    pub(crate) fn new(
        settings: Settings,
        roles: Roles,
        opened: Opened,
        name: OwnName,
        patience: &mut Patience<'_>,
    ) -> Result<Self, Failure> {
        let metrics = Arc::new(Metrics::new(Setup {
            cores: settings.server.cores.get(),
            routes: &routes(),
            version: env!("CARGO_PKG_VERSION"),
            revision: option_env!("SECKILL_REVISION").filter(|revision| !revision.is_empty()),
        }));
        if let Store::InProcess(store) = &opened.store {
            let steps = metrics.store_command_duration.clone();
            store.observe(move |took| steps.observe(Core::OTHER, took));
        }
        let layers = opened.start(patience)?;
        let (stock, queue) = (layers.store.stock(), layers.store.queue());
        let ledger: Arc<dyn Ledger> = layers.ledger.clone();
        let stored = patience.ask(seckill_ledger::Error::is_outage, || block_on(layers.ledger.switches()))?;
        let switches = switches_in_force(stored, settings.queue.backlog_max)?;
        stock.set_backlog_max(switches.backlog_max);
        let secret = secrets::purchase_token_secret(&settings)?;
        let gate = Arc::new(access::gate(&settings, secret, switches)?);
        let key_file = key_file::Watched::of(&settings);
        let own = Member {
            roles: roles.names(),
            admin: settings.admin.listen.to_string(),
            fingerprints: fingerprints::of(&settings, layers.installation, &secret)?,
            ..Member::default()
        };
        let membership = Membership::new(layers.store.members(), name, own);
        let pace = Arc::<Pace>::default();
        let results = Arc::new(Results::new(stock.clone(), ledger.clone(), pace.clone()));
        let operator = Operator::new(
            seckill_flow::Layers {
                stock: stock.clone(),
                queue: queue.clone(),
                ledger: ledger.clone(),
                results: results.clone(),
                catalogue: gate.catalogue().clone(),
            },
            operator_settings::of(&settings),
        );
        Ok(Self {
            stock,
            queue,
            ledger,
            gate,
            results,
            pace,
            operator: Arc::new(operator),
            membership,
            fences: Fences::default(),
            metrics,
            steps: Arc::new(Steps::new(Instant::now())),
            counts: Arc::default(),
            readiness: Readiness::default(),
            key_file,
            shutdown: Shutdown::default(),
            layers: Mutex::new(Some(layers)),
            settings,
            roles,
        })
    }

    /// Settles tickets in this node's way.
    pub(crate) fn settle(&self) -> Settle {
        let queue = &self.settings.queue;
        let options = SettleOptions {
            batch_size_max: self.settings.database.batch_size_max,
            attempts_max: queue.attempts_max,
            retry_wait_first_ms: millis(queue.retry_wait_first),
            retry_wait_max_ms: millis(queue.retry_wait_max),
            pay_within_ms: millis(self.settings.orders.pay_within),
        };
        Settle::new(
            self.stock.clone(),
            self.queue.clone(),
            self.ledger.clone(),
            self.results.clone(),
            self.settling_pace(),
            options,
        )
    }

    /// One worker of the settlement.
    pub(crate) fn worker(&self) -> Worker {
        let gate = self.gate.clone();
        let yielding = Arc::new(move || Yielding {
            backlog_max: gate.switches().backlog_max,
        });
        Worker::new(
            Arc::new(self.settle()),
            self.operator.clone(),
            yielding,
            self.counts.clone(),
        )
    }

    /// What a worker counts its orders in. Where others write orders, too, the pace is measured in the store's figures.
    fn settling_pace(&self) -> Arc<Pace> {
        match self.settings.store.url {
            StoreUrl::Embedded => self.pace.clone(),
            StoreUrl::Remote(_) => Arc::default(),
        }
    }

    /// The scheduler.
    pub(crate) fn scheduler(&self) -> Scheduler {
        let schedule = &self.settings.schedule;
        let settings = SchedulerSettings {
            preheat_before_ms: millis(schedule.preheat_before),
            close_after_end_ms: millis(schedule.close_after_end),
            tick_ms_max: millis(schedule.sweep_every),
            ..SchedulerSettings::default()
        };
        Scheduler::new(self.operator.clone(), settings)
    }

    /// Workers that run now.
    pub(crate) fn workers_running(&self) -> u64 {
        self.counts.running.load(Ordering::Relaxed)
    }
}

/// Every route that is counted, of both ports.
fn routes() -> Vec<&'static str> {
    seckill_api::ROUTES
        .iter()
        .chain(seckill_console::ROUTES)
        .copied()
        .collect()
}

/// Switches as the operator left them; they survive restarts of every part.
fn switches_in_force(stored: Option<StoredSwitches>, backlog_max: u64) -> Result<Switches, Failure> {
    let Some(stored) = stored else {
        return Ok(Switches::open(backlog_max));
    };
    serde_json::from_str(&stored.json)
        .map_err(|error| Failure::failed(format!("the stored switches can't be read: {error}")))
}

/// A duration in whole milliseconds.
pub(crate) fn millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
