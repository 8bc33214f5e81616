//! A whole house in a temporary folder: store and queue, ledger, operator, scheduler, and a worker that works when told to.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use seckill_flow::{
    Layers, Operator, OperatorSettings, Pace, Results, Scheduler, SchedulerSettings, Settle, SettleOptions,
};
use seckill_gate::Catalogue;
use seckill_ledger::{Context, PageRequest};
use seckill_ledger_sql::{Options as LedgerOptions, Sqlite, Threads};
use seckill_sale::{EpochMs, ManualClock, UserId};
use seckill_stock::Stock;
use tempfile::TempDir;

use crate::engine::{Engine, Handle};
use crate::fragile::Fragile;

/// Start of every sale here.
pub(crate) const OPENS: EpochMs = EpochMs(1_700_000_000_000);
/// End of every sale here: an hour later.
pub(crate) const ENDS: EpochMs = EpochMs(OPENS.0 + 3_600_000);
/// How long an order waits for its payment here.
pub(crate) const PAY_WITHIN_MS: i64 = 900_000;
/// Units of the product before anything is taken.
pub(crate) const PRODUCT_UNITS: u64 = 1_000;

pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(test)
}

pub(crate) fn user(name: &str) -> UserId {
    UserId::new(name).expect("valid")
}

pub(crate) fn all_rows() -> PageRequest {
    PageRequest {
        cursor: None,
        limit: PageRequest::LIMIT_MAX,
    }
}

pub(crate) struct House {
    pub(crate) operator: Arc<Operator>,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) store: Arc<Fragile>,
    pub(crate) ledger: Arc<Sqlite>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) handle: Handle,
    pub(crate) worker: Settle,
    settings: OperatorSettings,
    database: PathBuf,
    generation: u32,
    pub(crate) engine: Engine,
    folder: TempDir,
}

impl House {
    /// At the start of the window, with the default settings.
    pub(crate) fn new() -> Self {
        Self::with(OperatorSettings::default())
    }

    pub(crate) fn with(settings: OperatorSettings) -> Self {
        let folder = TempDir::new().expect("a folder");
        let clock = Arc::new(ManualClock::at(OPENS));
        let engine = Engine::start(&folder.path().join("journal-0"), clock.clone());
        Self::assemble(folder, clock, engine, "ledger.db", settings, 0)
    }

    fn assemble(
        folder: TempDir,
        clock: Arc<ManualClock>,
        engine: Engine,
        database: &str,
        settings: OperatorSettings,
        generation: u32,
    ) -> Self {
        let database = folder.path().join(database);
        let options = LedgerOptions {
            threads: Threads::Inline,
            busy_wait_ms_max: 1,
            ..LedgerOptions::default()
        };
        let ledger = Arc::new(Sqlite::open(&database, &options).expect("a database"));
        let store = Arc::new(Fragile::new(engine.handle.clone()));
        let catalogue = Arc::new(Catalogue::default());
        let pace = Arc::new(Pace::default());
        let layers = Layers {
            stock: store.clone(),
            queue: store.clone(),
            ledger: ledger.clone(),
            results: Arc::new(Results::new(store.clone(), ledger.clone(), pace.clone())),
            catalogue: catalogue.clone(),
        };
        let options = SettleOptions {
            batch_size_max: 64,
            attempts_max: 5,
            retry_wait_first_ms: 100,
            retry_wait_max_ms: 1_000,
            pay_within_ms: PAY_WITHIN_MS,
        };
        let results = layers.results.clone();
        let worker = Settle::new(store.clone(), store.clone(), ledger.clone(), results, pace, options);
        Self {
            operator: Arc::new(Operator::new(layers, settings)),
            catalogue,
            store,
            ledger,
            clock,
            handle: engine.handle.clone(),
            worker,
            settings,
            database,
            generation,
            engine,
            folder,
        }
    }

    /// The same journal and database in a new process.
    pub(crate) fn restarted(self) -> Self {
        let generation = self.generation;
        self.rearranged(generation, None)
    }

    /// The same database beside an empty store.
    pub(crate) fn with_empty_store(self) -> Self {
        let generation = self.generation + 1;
        self.rearranged(generation, None)
    }

    /// The same store beside a copy of the database that [`House::copy`] made.
    pub(crate) fn with_database(self, copy: &str) -> Self {
        let generation = self.generation;
        self.rearranged(generation, Some(copy))
    }

    fn rearranged(self, generation: u32, database: Option<&str>) -> Self {
        let Self {
            engine,
            clock,
            folder,
            settings,
            database: present,
            ..
        } = self;
        drop(engine);
        let present = present
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name")
            .to_owned();
        let engine = Engine::start(&folder.path().join(format!("journal-{generation}")), clock.clone());
        let database = database.unwrap_or(&present);
        Self::assemble(folder, clock, engine, database, settings, generation)
    }

    pub(crate) async fn copy(&self, name: &str) {
        self.ledger
            .copy_to(&self.folder.path().join(name))
            .await
            .expect("a copy");
    }

    /// Lets nobody else write to the database until the connection is dropped.
    pub(crate) fn lock_database(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(&self.database).expect("the database");
        connection.execute_batch("BEGIN EXCLUSIVE").expect("locked");
        connection
    }

    /// Does something to the database by hand.
    pub(crate) fn by_hand(&self, sql: &str) -> usize {
        let connection = rusqlite::Connection::open(&self.database).expect("the database");
        connection
            .pragma_update(None, "foreign_keys", false)
            .expect("a setting");
        connection.execute(sql, []).expect("a statement")
    }

    pub(crate) fn clock_now(&self) -> EpochMs {
        self.store.now()
    }

    pub(crate) fn context(&self) -> Context {
        Context {
            actor: "admin".to_owned(),
            now: self.store.now(),
            idempotency: None,
        }
    }

    pub(crate) fn scheduler(&self) -> Scheduler {
        Scheduler::new(self.operator.clone(), SchedulerSettings::default())
    }
}
