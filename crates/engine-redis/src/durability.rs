//! How many copies of an admission there must be before its buyer hears of it.
//!
//! WAIT counts the copies of what its own connection wrote, so it goes behind a write of its own on the very connection that ran the claim:
//! after a new one the server may have lost what it had. Copies narrow the window of a failover and do not close it: a replica that has an admission need
//! not be the one that is promoted. What stops overselling then is the ledger.

use std::time::Duration;

use redis::{FromRedisValue as _, Value, cmd};
use seckill_sale::{Finding, Refusal};
use seckill_stock::Answer;

use crate::keys::Place;
use crate::link::{Line, Link};
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

const AREA: &str = "durability";

/// Whether these servers can keep the promise; none where it is the server's own, which its settings tell.
pub(crate) async fn finding(options: &Options, link: &Link) -> Option<Finding> {
    let within = options.durability.within()?;
    if link.is_cluster() {
        let why = "durability: on a cluster no copies are waited for; set it to the server's";
        return Some(Finding::failed(AREA, why));
    }
    if options.answer_within <= within {
        let why = format!(
            "durability: it waits {within:?} for copies, and answers are given up after {:?}",
            options.answer_within
        );
        return Some(Finding::failed(AREA, why));
    }
    let wanted = match options.durability {
        Durability::Server => return None,
        Durability::Wait { replicas, .. } => replicas,
        Durability::WaitAof { replicas, .. } => {
            if !has_waitaof(link).await {
                let why = "durability: this server has no WAITAOF, which came with Redis 7.2";
                return Some(Finding::failed(AREA, why));
            }
            replicas
        }
    };
    let present = replicas(link).await;
    Some(match present {
        Some(present) if present < u64::from(wanted) => Finding::warning(
            AREA,
            format!(
                "durability: {wanted} replicas are waited for, and {present} follow: winners hear that their outcome is not known (50302)"
            ),
        ),
        Some(present) => Finding::passed(AREA, format!("{wanted} replicas are waited for, and {present} follow")),
        None => Finding::warning(
            AREA,
            "durability: the server does not show its replicas (INFO); see to it yourself",
        ),
    })
}

async fn has_waitaof(link: &Link) -> bool {
    let mut command = cmd("COMMAND");
    command.arg("INFO").arg("WAITAOF");
    for server in link.leaders() {
        let known: Vec<Value> = server.query(&command).await.unwrap_or_default();
        if !matches!(known.first(), Some(Value::Array(_))) {
            return false;
        }
    }
    true
}

/// Replicas that are in step with the server that leads, the fewest of any; none where it is not told.
async fn replicas(link: &Link) -> Option<u64> {
    let mut command = cmd("INFO");
    command.arg("replication");
    let mut fewest = None;
    for server in link.leaders() {
        let said: String = server.query(&command).await.ok()?;
        // The server's word for a replica.
        let is_in_step = |line: &&str| line.starts_with("slave") && line.contains("state=online");
        let present = said.lines().filter(is_in_step).count() as u64;
        fewest = Some(fewest.map_or(present, |fewest: u64| fewest.min(present)));
    }
    fewest
}

impl Shared {
    /// The connection on which a write to `key` is about to be asked, where its copies will be waited for.
    pub(crate) fn line(&self, key: &str) -> Option<Line> {
        self.options.durability.within()?;
        self.link.line(key)
    }

    /// Takes admissions back from their buyers' answers where they have too few copies: they are there, or will be lost; nobody knows.
    /// Whoever was refused has nothing to wait for; a batch without an admission does not wait.
    pub(crate) async fn only_durable(&self, line: Option<Line>, place: Place, answers: &mut [Answer]) {
        if answers.iter().all(Result::is_err) {
            return;
        }
        if !self.has_copies(line, &place.waited()).await {
            tracing::warn!(%place, "admissions have fewer copies than the durability setting asks for; their outcome is unknown");
            for answer in answers.iter_mut().filter(|answer| answer.is_ok()) {
                *answer = Err(Refusal::OutcomeUnknown);
            }
        }
    }

    /// Whether what was written has as many copies as it has to. They are counted of what the connection wrote. An admission may have been
    /// written by an earlier call, perhaps on another connection to this server: a write of this one's, of `waited`, comes behind it.
    pub(crate) async fn has_copies(&self, line: Option<Line>, waited: &str) -> bool {
        let Some(waiting) = self.options.durability.command() else {
            return true;
        };
        let Some(line) = line else { return false };
        let mut pipe = redis::pipe();
        pipe.cmd("SET").arg(waited).arg("").arg("PX").arg(1_000).ignore();
        pipe.add_command(waiting);
        let copies = line.query(&pipe).await;
        copies
            .and_then(|copies| copies.into_iter().next_back())
            .is_some_and(|copies| self.options.durability.is_reached(&copies))
    }
}
