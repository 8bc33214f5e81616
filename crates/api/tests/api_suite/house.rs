//! Everything behind the API, and what tests do to it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use seckill_api::{Api, CoreState, Parts, ROUTES, Readiness, Shared};
use seckill_engine_embedded::storage::simulated::Simulated;
use seckill_engine_embedded::{Embedded, open};
use seckill_flow::{Layers, Operator, OperatorSettings, Pace, Purchase, Results, Settle};
use seckill_gate::{Expectations, Gate, Signer, Switches};
use seckill_ledger::{Catalog, Context, NewActivity, NewProduct};
use seckill_ledger_sql::{Options as LedgerOptions, Sqlite, Threads};
use seckill_metrics::{Metrics, Setup};
use seckill_sale::{
    ActivityId, Challenge, Currency, EpochMs, InstallationId, ManualClock, Price, Quantity, Status, Stock as Units,
    UserId, Window,
};
use seckill_stock::{Batcher, Stock};
use tokio_util::sync::CancellationToken;

use crate::plan::{Plan, SECRET, gate, settings, settle_options, small};

/// Start of every sale here.
pub(crate) const OPENS: EpochMs = EpochMs(1_700_000_000_000);
/// End of every sale here: an hour later.
pub(crate) const ENDS: EpochMs = EpochMs(OPENS.0 + 3_600_000);

pub(crate) struct House {
    pub(crate) api: Api,
    pub(crate) gate: Arc<Gate>,
    pub(crate) operator: Arc<Operator>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) readiness: Readiness,
    pub(crate) shutdown: CancellationToken,
    pub(crate) shared: Arc<Shared>,
    pub(crate) stock: Embedded,
    pub(crate) clock: Arc<ManualClock>,
    ledger: Arc<Sqlite>,
    settle: Settle,
    signer: Signer,
    sequencer: Option<JoinHandle<()>>,
}

impl House {
    /// At the start of all sales, without limits.
    pub(crate) fn new() -> Self {
        Self::with(&Plan::default())
    }

    pub(crate) fn with(plan: &Plan) -> Self {
        let clock = Arc::new(ManualClock::at(OPENS));
        let opened = open(Simulated::new(1), small(), InstallationId([1; 16]), clock.clone()).expect("an empty disk");
        let (stock, sequencer) = (opened.engine, opened.sequencer);
        let store: Arc<dyn Stock> = Arc::new(stock.clone());
        let ledger_options = LedgerOptions {
            threads: Threads::Inline,
            ..LedgerOptions::default()
        };
        let ledger = Arc::new(Sqlite::open_in_memory(&ledger_options).expect("a database"));
        let pace = Arc::new(Pace::default());
        let results = Arc::new(Results::new(store.clone(), ledger.clone(), pace.clone()));
        let gate = Arc::new(gate(plan));
        let layers = Layers {
            stock: store.clone(),
            queue: Arc::new(stock.clone()),
            ledger: ledger.clone(),
            results: results.clone(),
            catalogue: gate.catalogue().clone(),
        };
        let settle = Settle::new(
            store.clone(),
            layers.queue.clone(),
            ledger.clone(),
            results,
            pace.clone(),
            settle_options(),
        );
        let operator = Arc::new(Operator::new(layers, OperatorSettings::default()));
        let metrics = Arc::new(Metrics::new(Setup {
            cores: 1,
            routes: ROUTES,
            version: "0",
            revision: None,
        }));
        let readiness = Readiness::default();
        let shutdown = CancellationToken::new();
        let shared = Shared::new(Parts {
            gate: gate.clone(),
            operator: operator.clone(),
            pace,
            metrics: metrics.clone(),
            readiness: readiness.clone(),
            settings: settings(plan),
            shutdown: shutdown.clone(),
            is_body_timeout: |error| error.is::<crate::pieces::TooSlow>(),
        });
        let (batcher, claims) = Batcher::new(store.clone(), 64);
        tokio::spawn(batcher.run());
        let api = Api::new(CoreState {
            shared: shared.clone(),
            purchase: Purchase::new(store, claims),
            index: 0,
            storefront: None,
        });
        Self {
            api,
            gate,
            operator,
            metrics,
            readiness,
            shutdown,
            shared,
            stock,
            clock,
            ledger,
            settle,
            signer: Signer::hs256(SECRET, &Expectations::default()).expect("a key"),
            sequencer: Some(std::thread::spawn(move || sequencer.run())),
        }
    }

    /// A preheated sale with so many units, one for each buyer, that asks for nothing.
    pub(crate) async fn sale(&self, units: u64) -> ActivityId {
        self.sale_with(units, |_| {}).await
    }

    pub(crate) async fn sale_with(&self, units: u64, change: impl FnOnce(&mut NewActivity)) -> ActivityId {
        let id = self.unheated_sale(units, change).await;
        self.operator.preheat(id, self.context()).await.expect("preheats");
        self.show().await;
        id
    }

    pub(crate) async fn unheated_sale(&self, units: u64, change: impl FnOnce(&mut NewActivity)) -> ActivityId {
        let product = NewProduct {
            name: "<b>kettle</b>".to_owned(),
            price: Price::new(9_900).expect("in range"),
            currency: Currency::new("CNY").expect("three capitals"),
            stock: Units::new(1_000).expect("in range"),
        };
        let product = self
            .ledger
            .create_product(product, self.context())
            .await
            .expect("a product");
        let mut activity = NewActivity {
            product_id: product.id,
            title: "a sale".to_owned(),
            seckill_price: Price::new(100).expect("in range"),
            stock: Units::new(units).expect("in range"),
            window: Window::new(OPENS, ENDS).expect("not empty"),
            per_user_limit: Quantity::ONE,
            shards: 1,
            challenge: Challenge::None,
            min_level: None,
            draft: false,
            notice: None,
        };
        change(&mut activity);
        let activity = self
            .ledger
            .create_activity(activity, self.context())
            .await
            .expect("an activity");
        self.show().await;
        activity.id
    }

    /// Brings what the ledger knows to the gate.
    pub(crate) async fn show(&self) {
        self.operator.refresh_catalogue().await.expect("reads");
    }

    pub(crate) async fn set_status(&self, id: ActivityId, status: Status) {
        let changed = self.ledger.set_status(id, status, None, self.context()).await;
        changed.expect("a change of status");
        self.operator.sync_terms(id).await.expect("the store follows");
        self.show().await;
    }

    /// Writes the orders of everything that waits.
    pub(crate) async fn settle(&self) {
        while 0 < self.settle.pass().await.expect("the queue answers").taken {}
    }

    pub(crate) fn context(&self) -> Context {
        Context {
            actor: "test".to_owned(),
            now: seckill_sale::Clock::now(&*self.clock),
            idempotency: None,
        }
    }

    pub(crate) fn switch(&self, change: impl FnOnce(&mut Switches)) {
        let mut switches = (*self.gate.switches()).clone();
        switches.revision += 1;
        change(&mut switches);
        assert!(self.gate.switch(switches), "the later revision counts");
    }

    /// A user's token, good for a day.
    pub(crate) fn token(&self, user: &str) -> String {
        self.token_for(user, 86_400_000)
    }

    /// A user's token, good for a second.
    pub(crate) fn short_token(&self, user: &str) -> String {
        self.token_for(user, 1_000)
    }

    fn token_for(&self, user: &str, life_ms: i64) -> String {
        let user = UserId::new(user).expect("a user id");
        let now = seckill_sale::Clock::now(&*self.clock);
        self.signer.sign(&user, now, now.plus(life_ms)).expect("signs")
    }

    pub(crate) fn peer(host: u8) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, host], 40_000))
    }

    /// Units left, as the store counts them.
    pub(crate) fn left(&self, id: ActivityId) -> u64 {
        self.stock.stock_left(id).expect("preheated")
    }

    /// The samples of the metrics page whose name and labels are these.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let page = self.metrics.page();
        let samples: HashMap<_, _> = page.lines().filter_map(|line| line.rsplit_once(' ')).collect();
        samples.get(name).and_then(|value| value.parse().ok()).unwrap_or(0.0)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stock.close();
        if let Some(sequencer) = self.sequencer.take() {
            let ended = sequencer.join();
            // A test that failed already says more than a second panic would.
            assert!(ended.is_ok() || std::thread::panicking(), "the sequencer ends well");
        }
    }
}
