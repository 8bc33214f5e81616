//! Every metric of the server as a field, so that whoever counts only calls a handle and never names a metric.
//! What is known elsewhere (stock, connections, phases) is set in [`Metrics::on_scrape`], just before the page is written.

use std::fmt;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::durations::Kind;
use crate::{
    Activities, Core, Counter, Depth, Gauge, GaugeFamily, Histogram, HttpRequests, Labelled, Level, Levels, LimitScope,
    Purchases, Registry, RequestDurations, Settlement, ShedReason, StreamKind, process,
};

/// Servers of the store that are shown one by one: a cluster has far fewer masters.
const STORE_SERVERS_MAX: usize = 1_000;
/// Switches that are shown one by one.
const SWITCHES_MAX: usize = 50;
/// The route whose requests are purchases.
const PURCHASE_ROUTE: &str = "/api/seckill/{activity_id}";
/// Shortest time over which a rate of requests is worked out; a shorter one would turn chance into a peak.
const RATE_OVER_MIN: Duration = Duration::from_millis(500);

/// What the metrics are made for.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Per-core runtimes of the public port.
    pub cores: usize,
    /// Routes as they shall be shown, such as `/api/seckill/{activity_id}`.
    pub routes: &'a [&'static str],
    /// Version of the build.
    pub version: &'a str,
    /// Revision of its source, where the build was told.
    pub revision: Option<&'a str>,
}

/// All metrics of the server.
pub struct Metrics {
    /// Where further metrics can be registered, at start-up.
    pub registry: Registry,
    /// `seckill_http_requests_total{route,method,code}`
    pub http_requests: HttpRequests,
    /// `seckill_http_request_duration_seconds`
    pub http_request_duration: RequestDurations,
    /// `seckill_in_flight`: requests being answered, and its peak.
    pub in_flight: Level,
    /// `seckill_connections`: open connections of the public port.
    pub connections: Gauge,
    /// `seckill_streams{kind}`: open result streams.
    pub streams: Levels<StreamKind>,
    /// `seckill_purchases_total{outcome}`
    pub purchases: Purchases,
    /// `seckill_replays_total`: requests that got the ticket of an earlier one with the same key.
    pub replays: Counter,
    /// `seckill_limited_total{scope}`
    pub limited: Labelled<LimitScope>,
    /// `seckill_shed_total{reason}`
    pub shed: Labelled<ShedReason>,
    /// What is shown of each activity.
    pub activities: Activities,
    /// What is shown of the way from ticket to order.
    pub settlement: Settlement,
    /// `seckill_store_up`, 1 or 0.
    pub store_up: Gauge,
    /// `seckill_store_server_up{server}`, 1 or 0, of each server that the store is spread over.
    pub store_servers: GaugeFamily,
    /// `seckill_store_command_duration_seconds`: one durable step of the store.
    pub store_command_duration: Histogram,
    /// `seckill_database_up`, 1 or 0.
    pub database_up: Gauge,
    /// `seckill_switch{name}`
    pub switches: GaugeFamily,
    purchase_route: usize,
    requests_per_second: Depth,
    last_tick: Mutex<Option<(Instant, u64)>>,
    hooks: Mutex<Vec<Hook>>,
}

type Hook = Box<dyn Fn(&Metrics) + Send + Sync>;

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    /// Registers all metrics, those of the process and `seckill_build_info` included.
    #[must_use]
    pub fn new(setup: Setup<'_>) -> Self {
        let registry = Registry::new(setup.cores);
        let revision = setup.revision.map(|revision| ("revision", revision.to_owned()));
        let version = std::iter::once(("version", setup.version.to_owned()))
            .chain(revision)
            .collect();
        registry.info(
            "seckill_build_info",
            "Version and source revision of this build.",
            version,
        );
        process::register(&registry);
        let r = &registry;
        let http_requests = r.http_requests("seckill_http_requests_total", "Requests answered.", setup.routes);
        Self {
            purchase_route: http_requests.route(PURCHASE_ROUTE),
            http_requests,
            http_request_duration: RequestDurations::register(
                r,
                "seckill_http_request_duration_seconds",
                "From the head of a request to its answer.",
            ),
            in_flight: r.level("seckill_in_flight", "Requests being answered."),
            connections: r.gauge("seckill_connections", "Open connections of the public port."),
            streams: r.levels("seckill_streams", "Open result streams."),
            purchases: Purchases::register(r, "seckill_purchases_total", "Purchase requests by how they ended."),
            replays: r.counter(
                "seckill_replays_total",
                "Requests that got the ticket of an earlier one with the same key.",
            ),
            limited: r.labelled("seckill_limited_total", "Requests refused by a limit, by whose it was."),
            shed: r.labelled(
                "seckill_shed_total",
                "Requests and connections turned away by overload.",
            ),
            activities: Activities::new(r),
            settlement: Settlement::new(r),
            store_up: r.gauge("seckill_store_up", "1 while the store answers."),
            store_servers: r.gauge_family(
                "seckill_store_server_up",
                "1 while this server of the store answers.",
                &["server"],
                STORE_SERVERS_MAX,
            ),
            store_command_duration: r.histogram(
                "seckill_store_command_duration_seconds",
                "One durable step of the store.",
            ),
            database_up: r.gauge("seckill_database_up", "1 while the database answers."),
            switches: r.gauge_family(
                "seckill_switch",
                "What the operator's switches are set to.",
                &["name"],
                SWITCHES_MAX,
            ),
            requests_per_second: r.depth(
                "seckill_requests_per_second",
                "Requests answered a second, over the last second.",
            ),
            last_tick: Mutex::default(),
            hooks: Mutex::default(),
            registry,
        }
    }

    /// Has `refresh` called before each page, to set what is known elsewhere. It must not wait for anything, and not call this.
    pub fn on_scrape(&self, refresh: impl Fn(&Self) + Send + Sync + 'static) {
        self.hooks.lock().push(Box::new(refresh));
    }

    /// Counts one answered request with everything that is counted of it, but for [`Metrics::in_flight`].
    pub fn answered(&self, core: Core, route: usize, method: &str, code: u16, took: Duration) {
        self.http_requests.inc(core, route, method, code);
        let kind = if route == self.purchase_route {
            Kind::Purchase
        } else {
            Kind::Other
        };
        self.http_request_duration.observe(core, kind, took);
    }

    /// Works out the requests a second since the last call, for their peak. To be called once a second, with the present time.
    pub fn tick(&self, now: Instant) {
        let total = self.http_request_duration.count();
        let mut last_tick = self.last_tick.lock();
        let Some((then, total_then)) = *last_tick else {
            *last_tick = Some((now, total));
            return;
        };
        let elapsed = now.saturating_duration_since(then);
        if RATE_OVER_MIN <= elapsed {
            let rate = total.saturating_sub(total_then) as f64 / elapsed.as_secs_f64();
            self.requests_per_second.set(rate.round() as u64);
            *last_tick = Some((now, total));
        }
    }

    /// The page, in the format of [`crate::CONTENT_TYPE`]. Peaks begin anew.
    #[must_use]
    pub fn page(&self) -> String {
        for refresh in self.hooks.lock().iter() {
            refresh(self);
        }
        self.registry.page()
    }
}
