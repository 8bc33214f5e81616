//! The connection to the server and its circuit breaker.
//!
//! ```text
//! up ──lost, or no answer in time──▶ down ──reconnected by a task of its own──▶ up
//! ```
//! While it is down nobody waits: calls are refused at once. Who was waiting for an answer hears that its outcome is unknown.

use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, RedisError, RedisResult};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::Error;

/// First pause between two attempts to connect, doubled up to [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(5);
/// Longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(200);
/// Commands that may wait in the connection; the batchers in front are bounded, too.
const PIPELINE_SIZE: usize = 1_024;

/// A connection as it was when it was handed out.
#[derive(Clone)]
pub(crate) struct Lent {
    pub(crate) connection: MultiplexedConnection,
    generation: u64,
}

struct State {
    up: Option<MultiplexedConnection>,
    generation: u64,
}

/// The connection that everybody shares.
pub(crate) struct Link {
    client: Client,
    config: AsyncConnectionConfig,
    runtime: Handle,
    state: Mutex<State>,
    is_up: watch::Sender<bool>,
}

impl Link {
    /// Connects; reconnections are tasks of the present runtime.
    pub(crate) async fn connect(
        address: &str,
        connect_within: Duration,
        answer_within: Duration,
    ) -> RedisResult<Arc<Self>> {
        let client = Client::open(address)?;
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(connect_within))
            .set_response_timeout(Some(answer_within))
            .set_pipeline_buffer_size(PIPELINE_SIZE);
        let connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        Ok(Arc::new(Self {
            client,
            config,
            runtime: Handle::current(),
            state: Mutex::new(State {
                up: Some(connection),
                generation: 0,
            }),
            is_up: watch::Sender::new(true),
        }))
    }

    /// A connection of its own for commands that block up to `block`.
    pub(crate) async fn connect_apart(&self, block: Duration) -> RedisResult<MultiplexedConnection> {
        let config = self.config.clone().set_response_timeout(Some(block * 2));
        self.client.get_multiplexed_async_connection_with_config(&config).await
    }

    /// The connection; an error at once where it is down.
    pub(crate) fn lend(&self) -> Result<Lent, Error> {
        let state = self.state.lock();
        let connection = state.up.clone().ok_or(Error::Unavailable)?;
        Ok(Lent {
            connection,
            generation: state.generation,
        })
    }

    /// Runs a command that may be run twice.
    pub(crate) async fn command<T: redis::FromRedisValue>(self: &Arc<Self>, command: &Cmd) -> Result<T, Error> {
        let mut lent = self.lend()?;
        let answer = command.query_async(&mut lent.connection).await;
        answer.map_err(|error| self.failed(&lent, &error))
    }

    /// What an error of this connection means; a connection that gave no answer is given up.
    pub(crate) fn failed(self: &Arc<Self>, lent: &Lent, error: &RedisError) -> Error {
        let meaning = Error::from(error);
        if meaning == Error::OutcomeUnknown {
            self.lose(lent.generation, error);
        }
        meaning
    }

    fn lose(self: &Arc<Self>, generation: u64, error: &RedisError) {
        {
            let mut state = self.state.lock();
            if state.generation != generation || state.up.take().is_none() {
                return;
            }
        }
        self.is_up.send_replace(false);
        tracing::warn!(%error, "the store does not answer; nobody waits for it until it is back");
        self.runtime.spawn(Self::reconnect(Arc::downgrade(self)));
    }

    async fn reconnect(link: Weak<Self>) {
        let mut pause = PAUSE_MIN;
        while let Some(link) = link.upgrade() {
            let connected = link
                .client
                .get_multiplexed_async_connection_with_config(&link.config)
                .await;
            if let Ok(connection) = connected {
                let mut state = link.state.lock();
                state.up = Some(connection);
                state.generation += 1;
                drop(state);
                link.is_up.send_replace(true);
                tracing::info!("the store answers again");
                return;
            }
            drop(link);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Returns once the link is up, false where it is not within `limit`.
    pub(crate) async fn came_back(&self, limit: Duration) -> bool {
        let mut is_up = self.is_up.subscribe();
        let up = is_up.wait_for(|&up| up);
        tokio::time::timeout(limit, up).await.is_ok_and(|up| up.is_ok())
    }
}
