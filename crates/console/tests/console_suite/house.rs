//! A console over a whole house in a temporary folder, and requests to it.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use http::{Method, Request};
use seckill_api::Readiness;
use seckill_console::{Console, router};
use seckill_engine_embedded::Embedded;
use seckill_flow::{Layers, Pace, Results, Settle, SettleOptions, WorkerCounts};
use seckill_gate::Gate;
use seckill_ledger::{DeadLetters, Parking};
use seckill_ledger_sql::{Options as LedgerOptions, Sqlite, Threads};
use seckill_metrics::Metrics;
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{ActivityId, Claim, EpochMs, ManualClock, Quantity, RequestId, RequestKey, UserId};
use seckill_stock::{Answer, Stock};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::request::{Asking, Reply};
use crate::setup::{console, gate, live, metrics};

pub(crate) const TOKEN: &str = "operator-0123456789abcdef-0123456789abcdef";
/// 2026-11-11T00:00:00Z, where the clock stands.
pub(crate) const NOW: EpochMs = EpochMs(1_794_355_200_000);

pub(crate) struct House {
    pub(crate) console: Arc<Console>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) readiness: Readiness,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) ledger: Arc<Sqlite>,
    pub(crate) store: Embedded,
    pub(crate) database: PathBuf,
    pub(crate) router: Router,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) counts: Arc<WorkerCounts>,
    pub(crate) shutdown: CancellationToken,
    settle: Settle,
    pub(crate) engine: Engine,
    _folder: TempDir,
}

impl House {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let clock = Arc::new(ManualClock::at(NOW));
        let engine = Engine::start(&folder.path().join("journal"), clock.clone());
        let options = LedgerOptions {
            threads: Threads::Inline,
            busy_wait_ms_max: 0,
            ..LedgerOptions::default()
        };
        let database = folder.path().join("ledger.db");
        let ledger = Arc::new(Sqlite::open(&database, &options).expect("a database"));
        let store = engine.handle.clone();
        let shared = Arc::new(store.clone());
        let pace = Arc::new(Pace::default());
        let results = Arc::new(Results::new(shared.clone(), ledger.clone(), pace.clone()));
        let gate = gate();
        let layers = Layers {
            stock: shared.clone(),
            queue: shared.clone(),
            ledger: ledger.clone(),
            results: results.clone(),
            catalogue: gate.catalogue().clone(),
        };
        let options = SettleOptions {
            batch_size_max: 64,
            attempts_max: 5,
            retry_wait_first_ms: 100,
            retry_wait_max_ms: 1_000,
            pay_within_ms: 900_000,
        };
        let settle = Settle::new(shared.clone(), shared, ledger.clone(), results, pace, options);
        let readiness = Readiness::default();
        let metrics = metrics();
        let live = live("node-1", Arc::new(store.clone()), &metrics);
        let (counts, shutdown) = (live.worker_counts.clone(), live.shutdown.clone());
        let console = console(layers, &gate, &readiness, live, &metrics);
        let house = Self {
            router: router(console.clone()),
            metrics,
            counts,
            shutdown,
            console,
            gate,
            readiness,
            clock,
            ledger,
            store,
            database,
            settle,
            engine,
            _folder: folder,
        };
        house.beat();
        house
    }

    pub(crate) fn ask(&self, method: Method, path: &str) -> Asking {
        Asking::new(self, Request::builder().method(method).uri(path)).header("host", "127.0.0.1:8081")
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.ask(Method::GET, path).operator().send().await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.ask(Method::POST, path).operator().json(&body).send().await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Reply {
        self.ask(Method::PATCH, path).operator().json(&body).send().await
    }

    /// A product of 1,000 units.
    pub(crate) async fn product(&self) -> u64 {
        self.post("/admin/api/products", product()).await.is(201, 0).id()
    }

    /// A sale of so many units that runs since a second ago, not preheated.
    pub(crate) async fn created(&self, stock: u64) -> u64 {
        let body = activity(self.product().await, stock);
        self.post("/admin/api/activities", body).await.is(201, 0).id()
    }

    /// The same, preheated.
    pub(crate) async fn opened(&self, stock: u64) -> u64 {
        let id = self.created(stock).await;
        self.post(&format!("/admin/api/activities/{id}/preheat"), json!({}))
            .await
            .is(200, 0);
        id
    }

    pub(crate) async fn claim(&self, id: u64, user: &str) -> Answer {
        let mut key = [0; 16];
        key[..user.len()].copy_from_slice(user.as_bytes());
        let claim = Claim {
            activity: ActivityId::new(id).expect("in range"),
            user: UserId::new(user).expect("valid"),
            key: RequestKey(key),
            quantity: Quantity::ONE,
            request_id: RequestId::new(&format!("request-of-{user}")).expect("valid"),
        };
        self.store.claim(vec![claim]).await.remove(0)
    }

    pub(crate) async fn settle(&self) {
        while self.settle.pass().await.expect("the queue answers").taken != 0 {}
    }

    /// Parks every ticket of the queue.
    pub(crate) async fn park_all(&self) {
        let mut verdicts = Verdicts::default();
        for delivery in self.store.take(100).await.expect("taken") {
            let reason = "bad row".to_owned();
            let ticket = delivery.ticket;
            let parking = Parking {
                delivery,
                reason: reason.clone(),
            };
            self.ledger.park(vec![parking], NOW).await.expect("parked");
            verdicts.tickets.push((ticket, Verdict::Bury { reason }));
        }
        self.store.record(verdicts).await.expect("recorded");
    }

    /// Actions of all audit rows, newest first.
    pub(crate) async fn actions(&self) -> Vec<String> {
        let reply = self.get("/admin/api/audit-rows?limit=500").await;
        let rows = reply.is(200, 0).data()["audit_rows"].as_array().expect("rows");
        let action = |row: &Value| row["action"].as_str().expect("a word").to_owned();
        rows.iter().map(action).collect()
    }
}

pub(crate) fn product() -> Value {
    json!({"name": "手机", "price_cents": 9_900, "currency": "CNY", "stock": 1_000})
}

pub(crate) fn activity(product_id: u64, stock: u64) -> Value {
    json!({
        "product_id": product_id, "title": "双十一", "seckill_price_cents": 100, "stock": stock,
        "starts_at": "2026-11-10T23:59:59Z", "ends_at": "2026-11-11T09:00:00+08:00",
    })
}

pub(crate) fn with(mut base: Value, member: &str, value: Value) -> Value {
    base[member] = value;
    base
}
