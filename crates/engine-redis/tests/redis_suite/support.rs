//! An engine on servers that are its own as long as the test runs.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use seckill_engine_redis::{Engine, Options};
use seckill_sale::ManualClock;
use seckill_testkit::{Redis, SharedCluster, SharedSentinel};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::oneshot;

use crate::sale::key;

/// What the suite runs on.
#[derive(Debug, Clone, Copy)]
#[expect(dead_code, reason = "each suite has one")]
pub enum Mode {
    Standalone,
    Sentinel,
    Cluster,
}

/// Servers that end, or are given back, with the test.
enum Held {
    #[expect(dead_code, reason = "held")]
    Sentinel(SharedSentinel),
    Cluster(SharedCluster),
}

/// Servers, and an engine whose tasks run on a thread of their own.
pub struct Running {
    pub engine: Engine,
    /// The server that has the sale of the fixtures.
    pub redis: Redis,
    pub url: String,
    held: Option<Held>,
    runtime: Handle,
    /// Ends the thread when it is dropped.
    _end: oneshot::Sender<()>,
}

impl Running {
    /// The engine decides by `clock`, or where there is none by the server's.
    pub fn start(clock: Option<Arc<ManualClock>>) -> Self {
        let (redis, url, held) = match crate::MODE {
            Mode::Standalone => {
                let redis = Redis::start();
                let url = redis.url();
                (redis, url, None)
            }
            Mode::Sentinel => {
                let set = SharedSentinel::take();
                (set.master(), set.url(), Some(Held::Sentinel(set)))
            }
            Mode::Cluster => {
                let cluster = SharedCluster::take();
                let owner = cluster.owner(&key("meta"));
                (owner, cluster.url(), Some(Held::Cluster(cluster)))
            }
        };
        let running = Self::on(redis, patient(url, "test-1"), clock);
        Self { held, ..running }
    }

    /// An engine with these options on servers of which `redis` has the sale.
    pub fn on(redis: Redis, options: Options, clock: Option<Arc<ManualClock>>) -> Self {
        let runtime = new_runtime();
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || runtime.block_on(ended));
        let url = options.address.clone();
        let engine = handle.block_on(connect(options, clock));
        Self {
            engine,
            redis,
            url,
            held: None,
            runtime: handle,
            _end: end,
        }
    }

    /// The server that has a key.
    pub fn owner(&self, key: &str) -> Redis {
        match &self.held {
            Some(Held::Cluster(cluster)) => cluster.owner(key),
            _ => Redis::at(self.redis.address()),
        }
    }

    /// Empties every server.
    pub fn flush_all(&self) {
        match &self.held {
            Some(Held::Cluster(cluster)) => cluster.masters().iter().for_each(Redis::flush_all),
            _ => self.redis.flush_all(),
        }
    }

    /// Another node on the same servers, which reads nothing by itself what it is not woken for.
    pub fn another(&self, name: &str) -> Engine {
        self.behind(self.url.clone(), name)
    }

    /// The same, reaching the servers by another address.
    pub fn behind(&self, url: String, name: &str) -> Engine {
        let options = Options {
            refresh_every: Duration::from_secs(3_600),
            ..patient(url, name)
        };
        self.block_on(Engine::connect(options)).expect("connected")
    }

    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
}

pub fn new_runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// A busy machine is no outage.
pub fn patient(url: String, name: &str) -> Options {
    Options {
        answer_within: Duration::from_secs(20),
        connect_within: Duration::from_secs(20),
        ..Options::new(url, name.to_owned())
    }
}

/// For servers that are brought down: a busy machine is no outage yet, and one that hangs is not waited for long.
pub fn brisk(url: String, name: &str) -> Options {
    Options {
        answer_within: Duration::from_secs(3),
        connect_within: Duration::from_secs(3),
        ..Options::new(url, name.to_owned())
    }
}

async fn connect(options: Options, clock: Option<Arc<ManualClock>>) -> Engine {
    let connected = match clock {
        Some(clock) => Engine::connect_with_clock(options, clock).await,
        None => Engine::connect(options).await,
    };
    connected.expect("connected")
}
