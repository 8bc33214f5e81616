//! One line in which claims of a core wait, its bounds, and the batch that the store takes from it. Which lines there are: `lines`.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use seckill_sale::{ActivityId, Claim, EpochMs, Refusal, UserId};
use tokio::sync::{Notify, oneshot};

use crate::lines::{Key, Lines, Taken};
use crate::queues::Queues;
use crate::{Answer, Batcher, Stock};

pub(crate) type Reply = oneshot::Sender<Answer>;

pub(crate) struct Waiting {
    pub(crate) claim: Claim,
    /// The store's time at which it lined up.
    pub(crate) since: EpochMs,
    pub(crate) reply: Reply,
}

#[derive(Default)]
pub(crate) struct Line {
    pub(crate) queues: Queues,
    /// When [`Line::overdue`] looked last.
    looked_at: Option<Instant>,
    /// Whether a [`Gathering`] is with the store that it has not taken yet.
    pub(crate) announced: bool,
    /// Batches with the store, announced ones included.
    pub(crate) under_way: usize,
    /// Whether the store has a batch that it has not answered in time: nobody lines up until it has.
    pub(crate) hangs: bool,
}

impl Line {
    /// The oldest claim of the sale that has most, where it has waited too long while more wait than a batch carries.
    pub(crate) fn too_late(&mut self, now: EpochMs, wait_ms_max: i64) -> Option<Waiting> {
        let is_late = |oldest: &Waiting| wait_ms_max < now.since(oldest.since);
        let too_many = Batcher::BATCH_SIZE_MAX < self.queues.len();
        too_many.then(|| self.queues.oldest_leaves_if(is_late))?
    }

    /// Claims that were in line `limit` ago already. To be asked again and again: it remembers who is there, and needs no clock a claim.
    pub(crate) fn overdue(&mut self, limit: Duration) -> Vec<Waiting> {
        let looked_at = *self.looked_at.get_or_insert_with(Instant::now);
        if looked_at.elapsed() < limit {
            return Vec::new();
        }
        self.looked_at = Some(Instant::now());
        self.queues.overdue()
    }
}

/// How many claims may wait, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Claims that may wait; those past it are shed at once.
    pub waiting_max: usize,
    /// How long a claim may wait, in milliseconds by the store's clock, while more wait than a batch carries; then it is shed. A slow
    /// store alone sheds nobody.
    pub wait_ms_max: i64,
    /// How long the store may take over a batch; then its callers hear that the outcome is unknown, and until it has answered whoever
    /// comes hears at once that it is busy. A claim that the store has not been told of within twice this time is shed. None: they wait
    /// for ever; else the batcher needs a runtime with timers.
    pub answer_within: Option<Duration>,
}

/// What a batcher needs of a store.
pub(crate) trait Decides: Send + Sync {
    fn now(&self) -> EpochMs;

    fn claim_gathered(&self, gathering: Gathering) -> Pin<Box<dyn Future<Output = Vec<Answer>> + Send + '_>>;
}

impl Decides for Arc<dyn Stock> {
    fn now(&self) -> EpochMs {
        (**self).now()
    }

    fn claim_gathered(&self, gathering: Gathering) -> Pin<Box<dyn Future<Output = Vec<Answer>> + Send + '_>> {
        (**self).claim_gathered(gathering)
    }
}

pub(crate) struct Shared {
    pub(crate) store: Box<dyn Decides>,
    pub(crate) lines: Mutex<Lines>,
    pub(crate) arrived: Notify,
    pub(crate) bounds: Bounds,
}

/// Who hears the answers of one batch: nobody before the store has taken it.
#[derive(Default)]
pub(crate) struct Callers {
    /// When the store took it.
    pub(crate) taken_at: Option<Instant>,
    pub(crate) replies: Vec<Reply>,
    /// How many of them came to which sale.
    pub(crate) of_sales: Vec<(ActivityId, usize)>,
}

/// A batch that goes on gathering until the store takes it.
pub struct Gathering {
    pub(crate) shared: Arc<Shared>,
    pub(crate) key: Key,
    pub(crate) callers: Arc<Mutex<Callers>>,
}

impl Gathering {
    /// Whose claim has waited longest, so that a store that serves several parts at once can tell which of them it concerns.
    #[must_use]
    pub fn oldest(&self) -> Option<(ActivityId, UserId)> {
        let mut lines = self.shared.lines.lock();
        let Waiting { claim, .. } = lines.line(self.key)?.queues.oldest()?;
        Some((claim.activity, claim.user.clone()))
    }

    /// The batch, closed now: an equal part of each sale, of each the oldest claim first. It may be empty. Claims that have waited too long
    /// are shed.
    #[must_use]
    pub fn take(self) -> Vec<Claim> {
        let now = self.shared.store.now();
        let Taken { late, claims, more, .. } = {
            let mut lines = self.shared.lines.lock();
            let mut taken = lines.take(self.key, now, self.shared.bounds.wait_ms_max);
            *self.callers.lock() = Callers {
                taken_at: Some(Instant::now()),
                replies: std::mem::take(&mut taken.replies),
                of_sales: std::mem::take(&mut taken.of_sales),
            };
            taken
        };
        if more {
            self.shared.arrived.notify_one();
        }
        refuse_late(late);
        claims
    }
}

/// Answers claims that have waited too long; the store has never seen them.
pub(crate) fn refuse_late(waiting: impl IntoIterator<Item = Waiting>) {
    refuse(waiting, &Refusal::Late);
}

/// Answers claims that the store has never seen.
pub(crate) fn refuse(waiting: impl IntoIterator<Item = Waiting>, refusal: &Refusal) {
    for waiting in waiting {
        let _ = waiting.reply.send(Err(refusal.clone()));
    }
}
