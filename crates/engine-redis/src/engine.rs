//! The handle and how it is got.

use std::sync::Arc;

use redis::RedisError;
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{ActivityId, Clock, Conclusion, FailureReason, UserId};
use seckill_stock::Stock;

use crate::link::Link;
use crate::options::Options;
use crate::safety::unsafe_setting;
use crate::shared::Shared;
use crate::time::Time;
use crate::{Error, background, durability, keys};

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
        if let Ok(mut lent) = link.lend()
            && let Some(sentence) = durability::refused(&options, &mut lent.connection).await
        {
            return Err(ConnectError::Unsafe(sentence));
        }
        let engine = Self(Arc::new(Shared::new(link, options, time)));
        let read = engine.0.reclaim().await;
        if let Err(error) = read {
            tracing::warn!(%error, "the sales of the store could not be read at the start");
        }
        background::start(&engine.0);
        Ok(engine)
    }

    /// Removes a buyer's entry by hand, as a drill: the audit must notice. Says whether he was there.
    ///
    /// # Errors
    /// The store did not do it, or half of it: his ticket may be out of the queue.
    pub async fn erase_buyer(&self, activity: ActivityId, user: UserId) -> Result<bool, seckill_stock::Error> {
        let Some(buyer) = self.buyer(activity, &user).await? else {
            return Ok(false);
        };
        let gone = Conclusion::Failed {
            reason: FailureReason::Discarded,
            unit_to: None,
        };
        let verdicts = Verdicts {
            tickets: vec![(buyer.ticket, Verdict::Conclude(gone))],
            settled_batch: 0,
        };
        if self.record(verdicts).await.is_err() {
            return Err(seckill_stock::Error::OutcomeUnknown);
        }
        self.0.remembered.forget(buyer.ticket);
        let user = user.as_str().as_bytes().to_vec();
        self.0.change(activity, "erase", vec![user]).await?;
        Ok(true)
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
