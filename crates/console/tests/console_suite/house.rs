//! A console over a whole house in a temporary folder, and requests to it.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, to_bytes};
use http::{HeaderMap, Method, Request, StatusCode};
use seckill_api::Readiness;
use seckill_console::{AdminToken, Connection, Console, Parts, Settings, router};
use seckill_engine_embedded::storage::Disk;
use seckill_engine_embedded::{Embedded, Options, open};
use seckill_flow::{Layers, Operator, OperatorSettings, Pace, Results, Settle, SettleOptions};
use seckill_gate::{
    Authority, Expectations, Gate, Limit, Limits, Networks, Settings as GateSettings, Switches, Verifier, Verifiers,
};
use seckill_ledger::{DeadLetters, Parking};
use seckill_ledger_sql::{Options as LedgerOptions, Sqlite, Threads};
use seckill_metrics::{Metrics, Setup};
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{ActivityId, Claim, EpochMs, InstallationId, ManualClock, Quantity, RequestId, RequestKey, UserId};
use seckill_stock::{Answer, Stock};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;

pub(crate) const TOKEN: &str = "operator-0123456789abcdef-0123456789abcdef";
/// 2026-11-11T00:00:00Z, where the clock stands.
pub(crate) const NOW: EpochMs = EpochMs(1_794_355_200_000);

struct Engine {
    handle: Embedded,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    fn start(folder: &Path, clock: Arc<ManualClock>) -> Self {
        let mut options = Options::default();
        options.journal.segment_bytes = 8 << 20;
        options.journal.allocate_bytes = 1 << 20;
        options.journal.frame_bytes_max = 1 << 20;
        std::fs::create_dir_all(folder).expect("a folder");
        let opened = open(
            Disk::open(folder).expect("a folder"),
            options,
            InstallationId([1; 16]),
            clock,
        );
        let opened = opened.expect("the journal opens");
        let sequencer = opened.sequencer;
        let thread = Some(std::thread::spawn(move || sequencer.run()));
        Self {
            handle: opened.engine,
            thread,
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the sequencer ends");
        }
    }
}

pub(crate) struct House {
    pub(crate) gate: Arc<Gate>,
    pub(crate) readiness: Readiness,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) ledger: Arc<Sqlite>,
    pub(crate) store: Embedded,
    pub(crate) database: PathBuf,
    router: Router,
    settle: Settle,
    _engine: Engine,
    _folder: TempDir,
}

fn gate() -> Arc<Gate> {
    let secret = b"a secret of more than thirty-two bytes";
    let verifier = Verifier::hs256(secret, &Expectations::default()).expect("a good secret");
    Arc::new(Gate::new(GateSettings {
        authority: Authority::Tokens(Verifiers::new(verifier, 64)),
        trusted_proxies: Networks::default(),
        exempt: Networks::default(),
        limits: Limits {
            ip: "50/s burst 100".parse().expect("a limit"),
            user: Limit::Off,
            device: Limit::Off,
            read: Limit::Off,
        },
        table_slots: 64,
        purchase_token_secret: [7; 32],
        switches: Switches::open(200_000),
    }))
}

fn settings() -> Settings {
    Settings {
        token: AdminToken::new(TOKEN).expect("long enough"),
        shards_max: 1,
        public_url: None,
        trusted_proxies: Networks::default(),
    }
}

fn console(layers: Layers, gate: &Arc<Gate>, readiness: &Readiness) -> Arc<Console> {
    let metrics = Metrics::new(Setup {
        cores: 1,
        routes: seckill_console::ROUTES,
        version: "0",
        revision: "0",
    });
    Console::new(Parts {
        operator: Arc::new(Operator::new(layers, OperatorSettings::default())),
        gate: gate.clone(),
        metrics: Arc::new(metrics),
        readiness: readiness.clone(),
        settings: settings(),
        is_body_timeout: |_| false,
    })
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
        let console = console(layers, &gate, &readiness);
        Self {
            router: router(console),
            gate,
            readiness,
            clock,
            ledger,
            store,
            database,
            settle,
            _engine: engine,
            _folder: folder,
        }
    }

    /// A gate and a console of another node, or of this one after a restart, over the same ledger.
    pub(crate) async fn another_gate(&self) -> Arc<Gate> {
        let gate = gate();
        let shared = Arc::new(self.store.clone());
        let layers = Layers {
            stock: shared.clone(),
            queue: shared.clone(),
            ledger: self.ledger.clone(),
            results: Arc::new(Results::new(shared, self.ledger.clone(), Arc::default())),
            catalogue: gate.catalogue().clone(),
        };
        let console = console(layers, &gate, &Readiness::default());
        console.refresh().await.expect("the ledger answers");
        gate
    }

    pub(crate) fn ask(&self, method: Method, path: &str) -> Asking<'_> {
        let headers = HeaderMap::new();
        let body = Vec::new();
        let request = Request::builder().method(method).uri(path);
        let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Asking {
            house: self,
            request,
            headers,
            body,
            client,
        }
        .header("host", "127.0.0.1:8081")
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
        let rows = reply.is(200, 0).data()["audit_rows"].as_array().expect("rows").clone();
        rows.iter()
            .map(|row| row["action"].as_str().expect("a word").to_owned())
            .collect()
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

/// `base` with one member changed.
pub(crate) fn with(mut base: Value, member: &str, value: Value) -> Value {
    base[member] = value;
    base
}

pub(crate) struct Asking<'a> {
    house: &'a House,
    request: http::request::Builder,
    headers: HeaderMap,
    body: Vec<u8>,
    client: IpAddr,
}

impl Asking<'_> {
    pub(crate) fn operator(self) -> Self {
        self.header("authorization", &format!("Bearer {TOKEN}"))
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.append(name, value.parse().expect("a header"));
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .bytes(body.to_string().as_bytes())
    }

    pub(crate) fn bytes(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    pub(crate) fn from(mut self, client: &str) -> Self {
        self.client = client.parse().expect("an address");
        self
    }

    pub(crate) async fn send(self) -> Reply {
        let mut request = self.request.body(Body::from(self.body)).expect("a request");
        *request.headers_mut() = self.headers;
        let connection = Connection::new(self.house.router.clone(), self.client);
        let response = connection.oneshot(request).await.expect("never fails");
        let (head, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.expect("a body");
        Reply {
            status: head.status,
            headers: head.headers,
            json: serde_json::from_slice(&bytes).unwrap_or_default(),
            text: String::from_utf8(bytes.to_vec()).expect("UTF-8"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) json: Value,
    pub(crate) text: String,
}

impl Reply {
    /// Checks status, code, and what every answer has.
    #[track_caller]
    pub(crate) fn is(&self, status: u16, code: u64) -> &Self {
        assert_eq!(
            (self.status.as_u16(), self.json["code"].as_u64()),
            (status, Some(code)),
            "{self:?}"
        );
        assert_eq!(
            self.headers["x-request-id"],
            self.json["request_id"].as_str().expect("an id")
        );
        assert!(self.headers.contains_key("server-time"), "{self:?}");
        if matches!(status, 429 | 503) {
            let seconds: u64 = self.header("retry-after").parse().expect("seconds");
            assert!(1 <= seconds, "{self:?}");
        }
        self
    }

    pub(crate) fn data(&self) -> &Value {
        &self.json["data"]
    }

    #[track_caller]
    pub(crate) fn id(&self) -> u64 {
        self.data()["id"].as_u64().expect("an id")
    }

    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .expect("the header is there")
            .to_str()
            .expect("text")
    }
}
