//! The handle and how it is got.

use std::sync::Arc;

use redis::RedisError;
use seckill_sale::Clock;

use crate::link::Link;
use crate::options::Options;
use crate::safety::unsafe_setting;
use crate::shared::Shared;
use crate::time::Time;
use crate::{Error, background, keys};

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is none, or the server there cannot be used.
    #[error("the store cannot be reached")]
    Redis(#[from] RedisError),
    /// It runs with a setting that loses sales.
    #[error("the store is not safe: {0}")]
    Unsafe(String),
}

/// Handle of the engine on Redis; cheap to clone. Background tasks end with its last clone.
#[derive(Clone)]
pub struct Engine(pub(crate) Arc<Shared>);

impl Engine {
    /// Connects to a server whose clock decides.
    ///
    /// # Errors
    /// The address is none, nobody answers there, or the server's settings would lose sales.
    pub async fn connect(options: Options) -> Result<Self, ConnectError> {
        Self::start(options, Time::server()).await
    }

    /// The same with a clock given from outside, which every script is told in place of the server's. For conformance tests alone: a
    /// server's clock can't be set, and facts about windows and leases need to.
    ///
    /// # Errors
    /// As [`Engine::connect`].
    pub async fn connect_with_clock(options: Options, clock: Arc<dyn Clock>) -> Result<Self, ConnectError> {
        Self::start(options, Time::Given(clock)).await
    }

    async fn start(options: Options, time: Time) -> Result<Self, ConnectError> {
        let link = Link::connect(&options.address, options.connect_within, options.answer_within).await?;
        if let Ok(mut lent) = link.lend()
            && let Some(sentence) = unsafe_setting(&mut lent.connection).await
        {
            return Err(ConnectError::Unsafe(sentence));
        }
        let engine = Self(Arc::new(Shared::new(link, options, time)));
        let read = engine.0.refresh().await;
        if let Err(error) = read {
            tracing::warn!(%error, "the sales of the store could not be read at the start");
        }
        background::start(&engine.0);
        Ok(engine)
    }

    /// Number of the newest settlement batch that was acknowledged. A ledger that has fewer was restored from an older copy.
    ///
    /// # Errors
    /// The store did not answer.
    pub async fn acknowledged_batch(&self) -> Result<u64, Error> {
        let kept: Option<u64> = self.0.link.command(redis::cmd("GET").arg(keys::ACKNOWLEDGED)).await?;
        Ok(kept.unwrap_or(0))
    }
}
