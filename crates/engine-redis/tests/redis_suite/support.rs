//! An engine on a server of its own, which ends with the test.

use std::cell::RefCell;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use seckill_engine_redis::{Engine, Options};
use seckill_sale::{ActivityId, Claim, ManualClock, Shards, Ticket, TicketState, UserId};
use seckill_stock::conformance::Fixture;
use seckill_stock::{OpenOutcome, Opening, Stock};
use seckill_testkit::Redis;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::oneshot;

/// A server, and an engine whose tasks run on a thread of their own.
pub struct Running {
    pub engine: Engine,
    pub redis: Redis,
    runtime: Handle,
    /// Ends the thread when it is dropped.
    _end: oneshot::Sender<()>,
}

impl Running {
    /// The engine decides by `clock`, or where there is none by the server's.
    pub fn start(clock: Option<Arc<ManualClock>>) -> Self {
        let redis = Redis::start();
        let runtime = new_runtime();
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || runtime.block_on(ended));
        let engine = handle.block_on(connect(&redis, "test-1", clock));
        Self {
            engine,
            redis,
            runtime: handle,
            _end: end,
        }
    }

    /// Another node on the same server, which reads nothing by itself what it is not woken for.
    pub fn another(&self, name: &str) -> Engine {
        self.behind(self.redis.url(), name)
    }

    /// The same, reaching the server by another address.
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

fn new_runtime() -> Runtime {
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

async fn connect(redis: &Redis, name: &str, clock: Option<Arc<ManualClock>>) -> Engine {
    let options = patient(redis.url(), name);
    let connected = match clock {
        Some(clock) => Engine::connect_with_clock(options, clock).await,
        None => Engine::connect(options).await,
    };
    connected.expect("connected")
}

thread_local! {
    /// What a fixture needs until its fact has been checked: [`block_on`] ends it.
    static KEPT: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            KEPT.with_borrow_mut(Vec::clear);
        }
    }
    let _end = End;
    new_runtime().block_on(future)
}

fn kept() -> (Engine, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(Fixture::OPENS));
    let running = Running::start(Some(clock.clone()));
    let engine = running.engine.clone();
    KEPT.with_borrow_mut(|kept| kept.push(running));
    (engine, clock)
}

/// For the stock's conformance, with so many shards.
pub fn fixture(shards: u64) -> Fixture {
    let (engine, clock) = kept();
    Fixture {
        stock: Arc::new(engine),
        clock,
        shards: Shards::new(shards).expect("in range"),
    }
}

/// For the conformance of members.
pub fn members_fixture() -> seckill_stock::members::conformance::Fixture {
    let (engine, clock) = kept();
    seckill_stock::members::conformance::Fixture {
        members: Arc::new(engine),
        clock,
    }
}

/// For the queue's conformance: two sales are open, with so many shards each.
pub fn queue_fixture(shards: u64) -> seckill_queue::conformance::Fixture {
    let (engine, clock) = kept();
    let shards = Shards::new(shards).expect("in range");
    let opening = async {
        for id in [7, 8] {
            let activity = ActivityId::new(id).expect("in range");
            let opening = Opening {
                shards,
                ..Fixture::opening(activity, 100)
            };
            let outcome = engine.open(opening).await;
            assert_eq!(outcome, Ok(OpenOutcome::Created));
        }
    };
    KEPT.with_borrow(|kept| kept[0].block_on(opening));
    seckill_queue::conformance::Fixture {
        queue: Arc::new(engine.clone()),
        front: Arc::new(Front(engine)),
        clock,
        shards,
    }
}

struct Front(Engine);

#[async_trait]
impl seckill_queue::conformance::Front for Front {
    async fn buy(&self, activity: ActivityId, users: &[&str]) -> Vec<Ticket> {
        let claims = users
            .iter()
            .map(|user| Claim {
                activity,
                ..Fixture::claim(user, 1, 1)
            })
            .collect();
        let answers = self.0.claim(claims).await;
        answers
            .into_iter()
            .map(|answer| answer.expect("admitted").ticket)
            .collect()
    }

    async fn state(&self, activity: ActivityId, user: &UserId) -> Option<TicketState> {
        let buyer = self.0.buyer(activity, user).await.expect("answers");
        buyer.map(|buyer| buyer.state)
    }

    async fn left(&self, activity: ActivityId) -> u64 {
        let figures = self.0.figures(activity).await.expect("answers");
        figures.expect("has a state").stock_left
    }
}
