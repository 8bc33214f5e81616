//! One server: its connection, which everybody shares, and its circuit breaker.
//!
//! ```text
//! up ──lost, or no answer in time──▶ down ──connected by a task of its own──▶ up
//! ```
//! While it is down nobody waits for it: calls are refused at once. Who was waiting for an answer hears that its outcome is unknown. Each
//! server has a breaker of its own, so that one that is gone closes no sale that another one keeps.

use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use redis::aio::MultiplexedConnection;
use redis::{Cmd, ErrorKind, RedisError, RedisResult};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};

use super::address::Spot;
use super::connector::{Connector, PAUSE_MAX, PAUSE_MIN};
use super::{Asked, is_master};
use crate::Error;

struct State {
    up: Option<MultiplexedConnection>,
    /// Counts connections, so that one loss is noticed once.
    generation: u64,
}

pub(crate) struct Node {
    pub(crate) spot: Spot,
    /// Whether a server that says it is a replica is not spoken to.
    must_lead: bool,
    pub(crate) connector: Arc<Connector>,
    runtime: Handle,
    state: Mutex<State>,
    is_up: watch::Sender<bool>,
    /// Woken when the connection is lost.
    keeper: Arc<Notify>,
}

impl Node {
    /// A server to which a task connects; or one with a connection.
    pub(crate) fn new(
        spot: Spot,
        must_lead: bool,
        connector: &Arc<Connector>,
        keeper: &Arc<Notify>,
        up: Option<MultiplexedConnection>,
    ) -> Arc<Self> {
        let is_up = up.is_some();
        let node = Arc::new(Self {
            spot,
            must_lead,
            connector: connector.clone(),
            runtime: Handle::current(),
            state: Mutex::new(State { up, generation: 0 }),
            is_up: watch::Sender::new(is_up),
            keeper: keeper.clone(),
        });
        if !is_up {
            node.runtime.spawn(Self::connect(Arc::downgrade(&node)));
        }
        node
    }

    /// One attempt to connect to `spot`.
    pub(crate) async fn reach(
        connector: &Connector,
        spot: &Spot,
        must_lead: bool,
    ) -> RedisResult<MultiplexedConnection> {
        let mut connection = connector.connect(spot).await?;
        if must_lead && !is_master(&mut connection).await? {
            return Err((ErrorKind::UnexpectedReturnType, "the server is a replica").into());
        }
        Ok(connection)
    }

    async fn connect(node: Weak<Self>) {
        let mut pause = PAUSE_MIN;
        while let Some(node) = node.upgrade() {
            match Self::reach(&node.connector, &node.spot, node.must_lead).await {
                Ok(connection) => {
                    let mut state = node.state.lock();
                    state.up = Some(connection);
                    state.generation += 1;
                    drop(state);
                    node.is_up.send_replace(true);
                    tracing::info!(server = %node.spot, "the store answers");
                    return;
                }
                Err(error) => tracing::debug!(%error, server = %node.spot, "the store cannot be connected to"),
            }
            drop(node);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        *self.is_up.borrow()
    }

    /// The connection with its generation; an error at once where it is down.
    fn lend(&self) -> Result<(MultiplexedConnection, u64), Error> {
        let state = self.state.lock();
        let connection = state.up.clone().ok_or(Error::Unavailable)?;
        Ok((connection, state.generation))
    }

    /// Asks the server once. A connection that gave no answer is given up, and so is one whose server no longer leads.
    pub(crate) async fn ask(self: &Arc<Self>, asked: &Asked<'_>, asking: bool) -> Result<redis::Value, Failure> {
        let (mut connection, generation) = self.lend().map_err(Failure::NotSent)?;
        asked.send(&mut connection, asking).await.map_err(|error| {
            let is_lost = Error::from(&error) == Error::OutcomeUnknown;
            let is_led = self.must_lead && matches!(error.code(), Some("READONLY" | "MASTERDOWN"));
            if is_lost || is_led {
                self.lose(generation, &error);
            }
            Failure::Told(error)
        })
    }

    /// Asks one command, and tells what the server says.
    pub(crate) async fn query<T: redis::FromRedisValue>(self: &Arc<Self>, command: &Cmd) -> RedisResult<T> {
        let answer = self.ask(&Asked::Command(command), false).await;
        Ok(redis::from_redis_value(answer.map_err(Failure::into_error)?)?)
    }

    /// Which connection it has now.
    fn generation(&self) -> u64 {
        self.state.lock().generation
    }

    fn lose(self: &Arc<Self>, generation: u64, error: &RedisError) {
        {
            let mut state = self.state.lock();
            if state.generation != generation || state.up.take().is_none() {
                return;
            }
        }
        self.is_up.send_replace(false);
        tracing::warn!(%error, server = %self.spot, "the store does not answer; nobody waits for it until it is back");
        self.runtime.spawn(Self::connect(Arc::downgrade(self)));
        self.keeper.notify_one();
    }

    /// Returns once it is up, false where it is not within `limit`.
    pub(crate) async fn came_up(&self, limit: Duration) -> bool {
        let mut is_up = self.is_up.subscribe();
        let up = is_up.wait_for(|&up| up);
        tokio::time::timeout(limit, up).await.is_ok_and(|up| up.is_ok())
    }

    /// Returns once it is down.
    pub(crate) async fn went_down(&self) {
        let mut is_up = self.is_up.subscribe();
        let _ = is_up.wait_for(|&up| !up).await;
    }
}

/// The connection that a server had at some moment.
pub(crate) struct Line {
    node: Arc<Node>,
    generation: u64,
}

impl Line {
    pub(crate) fn of(node: &Arc<Node>) -> Self {
        Self {
            node: node.clone(),
            generation: node.generation(),
        }
    }

    /// Asks these on it; none where it is another one by now, or gives no answer.
    pub(crate) async fn query(&self, pipe: &redis::Pipeline) -> Option<Vec<redis::Value>> {
        let (mut connection, generation) = self.node.lend().ok()?;
        if generation != self.generation {
            return None;
        }
        let answer = pipe.query_async(&mut connection).await;
        if let Err(error) = &answer
            && Error::from(error) == Error::OutcomeUnknown
        {
            self.node.lose(generation, error);
        }
        answer.ok()
    }
}

/// Why a server did not do what it was asked.
pub(crate) enum Failure {
    /// It was not asked.
    NotSent(Error),
    /// It said so, or said nothing.
    Told(RedisError),
}

impl Failure {
    pub(crate) fn into_error(self) -> RedisError {
        match self {
            Self::NotSent(_) => (ErrorKind::Io, "the server cannot be reached").into(),
            Self::Told(error) => error,
        }
    }
}
