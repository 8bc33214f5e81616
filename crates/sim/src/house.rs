//! The product put together as in its binary: what survives a crash, and what dies in it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use seckill_engine_embedded::{CompactionOptions, Embedded, OpenError, Opened, Options, Sequencer, journal, open};
use seckill_flow::{
    DeadLettersAfterEnd, Layers, Operator, OperatorSettings, Pace, Purchase, Results, Scheduler, SchedulerSettings,
    Settle, SettleOptions,
};
use seckill_ledger_sql::Sqlite;
use seckill_sale::{InstallationId, ManualClock};
use seckill_stock::{Batcher, Stock};

use crate::disk::Disk;
use crate::executor::{Kind, Tasks};
use crate::ledger::SimLedger;
use crate::scenario::{PAY_WITHIN_MS, Scenario};
use crate::store::Store;
use crate::weather::Weather;

/// What a crash leaves.
pub(crate) struct Ground {
    pub(crate) disk: Disk,
    pub(crate) database: Arc<Sqlite>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) weather: Arc<Weather>,
}

/// Cores that gather claims.
const CORES: usize = 2;

/// Id of the installation in every run.
pub(crate) const INSTALLATION: InstallationId = InstallationId([7; 16]);

/// One life of the process.
pub(crate) struct Process {
    pub(crate) engine: Embedded,
    pub(crate) sequencer: Sequencer<Disk>,
    /// Begun and not carried out.
    pub(crate) compaction: Option<journal::Compaction<Disk>>,
    pub(crate) store: Arc<Store>,
    pub(crate) operator: Arc<Operator>,
    pub(crate) results: Arc<Results>,
    pub(crate) purchases: Vec<Purchase>,
    pub(crate) settle: Arc<Settle>,
    /// Not there while a tick runs.
    pub(crate) scheduler: Rc<RefCell<Option<Scheduler>>>,
}

/// Sizes of the journal: segments that are sealed after some hundred frames, beyond the space that is kept back for results.
pub(crate) fn journal_options() -> journal::Options {
    journal::Options {
        segment_bytes: (1 << 20) + (64 << 10),
        allocate_bytes: 16 << 10,
        frame_bytes_max: 32 << 10,
    }
}

impl Process {
    /// Starts the product on what is there.
    pub(crate) fn start(ground: &Ground, scenario: &Scenario, tasks: &mut Tasks) -> Result<Self, OpenError> {
        let options = Options {
            journal: journal_options(),
            compaction: CompactionOptions {
                in_background: false,
                ..CompactionOptions::default()
            },
            backlog_max: scenario.backlog_max,
            ..Options::default()
        };
        let Opened { engine, sequencer, .. } = open(ground.disk.clone(), options, INSTALLATION, ground.clock.clone())?;
        let store = Arc::new(Store::new(engine.clone(), ground.weather.clone()));
        let ledger = Arc::new(SimLedger::new(ground.database.clone(), ground.weather.clone()));
        let pace = Arc::new(Pace::default());
        let results = Arc::new(Results::new(store.clone(), ledger.clone(), pace.clone()));
        let layers = Layers {
            stock: store.clone(),
            queue: store.clone(),
            ledger: ledger.clone(),
            results: results.clone(),
            catalogue: Arc::default(),
        };
        let operator = Arc::new(Operator::new(layers, operator_settings(scenario)));
        let options = settle_options(scenario);
        let settle = Settle::new(store.clone(), store.clone(), ledger, results.clone(), pace, options);
        let purchases = (0..CORES)
            .map(|core| start_core(&store, scenario, core, tasks))
            .collect();
        let scheduler = Scheduler::new(operator.clone(), scheduler_settings());
        Ok(Self {
            engine,
            sequencer,
            compaction: None,
            store,
            operator,
            results,
            purchases,
            settle: Arc::new(settle),
            scheduler: Rc::new(RefCell::new(Some(scheduler))),
        })
    }
}

fn start_core(store: &Arc<Store>, scenario: &Scenario, core: usize, tasks: &mut Tasks) -> Purchase {
    let stock: Arc<dyn Stock> = store.clone();
    let (batcher, claims) = Batcher::new(stock.clone(), scenario.waiting_max);
    tasks.spawn(Kind::Daemon, format!("batcher {core}"), batcher.run());
    Purchase::new(stock, claims)
}

const fn operator_settings(scenario: &Scenario) -> OperatorSettings {
    OperatorSettings {
        units_on_cancel: scenario.units_on_cancel,
        dead_letters_after_end: if scenario.discard_after_end {
            DeadLettersAfterEnd::DiscardAfter { wait_ms: 10_000 }
        } else {
            DeadLettersAfterEnd::Keep
        },
    }
}

const fn settle_options(scenario: &Scenario) -> SettleOptions {
    SettleOptions {
        batch_size_max: scenario.batch_size_max,
        attempts_max: scenario.attempts_max,
        retry_wait_first_ms: 100,
        retry_wait_max_ms: 1_000,
        pay_within_ms: PAY_WITHIN_MS,
    }
}

const fn scheduler_settings() -> SchedulerSettings {
    SchedulerSettings {
        preheat_before_ms: 10_000,
        close_after_end_ms: 20_000,
        forget_after_ms: 100_000,
        closed_kept_max: usize::MAX,
        tick_ms_max: 500,
        repair_every_ms: 1_000,
    }
}
