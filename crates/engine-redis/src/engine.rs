//! The handle and how it is got.

use std::sync::Arc;

use redis::{ErrorKind, RedisError};
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{ActivityId, Clock, Conclusion, FailureReason, Severity, UserId};
use seckill_stock::Stock;

use crate::keys::{self, Place};
use crate::link::Link;
use crate::options::Options;
use crate::safety::findings;
use crate::shared::Shared;
use crate::time::Time;
use crate::{Error, background};

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is none, or nobody answers there.
    #[error("the store cannot be reached")]
    Redis(#[source] RedisError),
    /// User or password are wrong, or missing.
    #[error("the store refuses this user and password")]
    Login(#[source] RedisError),
    /// A server runs with a setting that loses sales, or cannot do what is needed.
    #[error("the store is not safe: {0}")]
    Unsafe(String),
}

impl From<RedisError> for ConnectError {
    fn from(error: RedisError) -> Self {
        let is_login =
            error.kind() == ErrorKind::AuthenticationFailed || matches!(error.code(), Some("NOAUTH" | "WRONGPASS"));
        if is_login {
            Self::Login(error)
        } else {
            Self::Redis(error)
        }
    }
}

/// Handle of the engine on Redis; cheap to clone. Background tasks end with its last clone.
#[derive(Clone)]
pub struct Engine(pub(crate) Arc<Shared>);

impl Engine {
    /// Connects to servers whose clock decides.
    ///
    /// # Errors
    /// The address is none, nobody answers there, or a server's settings would lose sales.
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
        let link = Link::connect(&options).await?;
        for finding in findings(&link, &options).await {
            match finding.severity {
                Severity::Passed => {}
                Severity::Warning => tracing::warn!(area = finding.area, "the store: {}", finding.sentence),
                Severity::Failed => return Err(ConnectError::Unsafe(finding.sentence)),
            }
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
        let place = Place::of_user(activity, self.0.shards(activity).await?, &buyer.user);
        self.0.change_at(place, "erase", vec![user]).await?;
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
