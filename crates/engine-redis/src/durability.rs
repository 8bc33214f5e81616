//! How many copies of an admission there must be before its buyer hears of it.
//!
//! WAIT counts the copies of what its own connection wrote, so it goes behind the claim on the connection that ran the script; on another
//! one it would count copies of nothing. Copies narrow the window of a failover and do not close it: a replica that has an admission need
//! not be the one that is promoted. What stops overselling then is the ledger.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue as _, Value, cmd};
use seckill_sale::{ActivityId, Refusal};
use seckill_stock::Answer;

use crate::link::Lent;
use crate::options::Options;
use crate::shared::Shared;

/// When an admission counts as durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When the server has it, as its `appendfsync` says: `always` loses nothing when the server or its machine dies; `everysec` loses what it
    /// acknowledged up to 2 s before. Where a replica takes over, what had not reached it is lost with either.
    Server,
    /// When as many replicas have it in memory, too.
    Wait {
        /// How many.
        replicas: u16,
        /// How long to wait for them.
        within: Duration,
    },
    /// When the server and as many replicas have it on their disks (Redis 7.2 or newer).
    WaitAof {
        /// How many; 0: the server's own disk alone.
        replicas: u16,
        /// How long to wait for them.
        within: Duration,
    },
}

impl Durability {
    const fn within(self) -> Option<Duration> {
        match self {
            Self::Server => None,
            Self::Wait { within, .. } | Self::WaitAof { within, .. } => Some(within),
        }
    }

    /// The command that waits, or nothing where none is needed.
    fn command(self) -> Option<redis::Cmd> {
        let ms = u64::try_from(self.within()?.as_millis()).unwrap_or(u64::MAX).max(1);
        let mut command = redis::Cmd::new();
        match self {
            Self::Server => return None,
            Self::Wait { replicas, .. } => command.arg("WAIT").arg(replicas).arg(ms),
            Self::WaitAof { replicas, .. } => command.arg("WAITAOF").arg(1).arg(replicas).arg(ms),
        };
        Some(command)
    }

    /// Whether its answer says that there are copies enough.
    fn is_reached(self, answer: &Value) -> bool {
        match self {
            Self::Server => true,
            Self::Wait { replicas, .. } => {
                u64::from_redis_value(answer.clone()).is_ok_and(|copies| u64::from(replicas) <= copies)
            }
            Self::WaitAof { replicas, .. } => <(u64, u64)>::from_redis_value(answer.clone())
                .is_ok_and(|(here, copies)| 1 <= here && u64::from(replicas) <= copies),
        }
    }
}

/// Why the setting can't be had from this server, as a sentence.
pub(crate) async fn refused(options: &Options, connection: &mut MultiplexedConnection) -> Option<String> {
    let within = options.durability.within()?;
    if options.address.starts_with("redis-cluster") {
        return Some(
            "durability: a cluster's commands have no connection of their own behind which WAIT could go; set it to the server's"
                .to_owned(),
        );
    }
    if options.answer_within <= within {
        return Some(format!(
            "durability: it waits {within:?} for copies, and answers are given up after {:?}",
            options.answer_within
        ));
    }
    if matches!(options.durability, Durability::WaitAof { .. }) {
        let mut command = cmd("COMMAND");
        command.arg("INFO").arg("WAITAOF");
        let known: Vec<Value> = command.query_async(connection).await.unwrap_or_default();
        if !matches!(known.first(), Some(Value::Array(_))) {
            return Some("durability: this server has no WAITAOF, which came with Redis 7.2".to_owned());
        }
    }
    None
}

impl Shared {
    /// Takes admissions back from their buyers' answers where they have too few copies: they are there, or will be lost; nobody knows.
    /// Whoever was refused has nothing to wait for; a batch without an admission does not wait.
    pub(crate) async fn only_durable(&self, lent: &mut Lent, activity: ActivityId, answers: &mut [Answer]) {
        let Some(waiting) = self.options.durability.command() else {
            return;
        };
        let admitted = answers.iter().flatten();
        let Some(has_replay) = admitted
            .map(|reserved| reserved.replayed)
            .reduce(|one, other| one || other)
        else {
            return;
        };
        let mut pipe = redis::pipe();
        if has_replay {
            // It was written by another call, perhaps on another connection: a write of this one's comes behind it.
            let mark = format!("{{a:{activity}:0}}:waited");
            pipe.cmd("SET").arg(mark).arg("").arg("PX").arg(1_000).ignore();
        }
        pipe.add_command(waiting);
        let copies: Result<Vec<Value>, _> = pipe.query_async(&mut lent.connection).await;
        let is_reached = match copies {
            Ok(copies) => copies
                .last()
                .is_some_and(|copies| self.options.durability.is_reached(copies)),
            Err(error) => {
                let _unknown = self.link.failed(lent, &error);
                false
            }
        };
        if !is_reached {
            tracing::warn!(%activity, "admissions have fewer copies than the durability setting asks for; their outcome is unknown");
            for answer in answers.iter_mut().filter(|answer| answer.is_ok()) {
                *answer = Err(Refusal::OutcomeUnknown);
            }
        }
    }
}
