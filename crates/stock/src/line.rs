//! One line in which claims of a core wait, its bounds, and the batch that the store takes from it. Which lines there are: `lines`.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use seckill_sale::{ActivityId, Claim, EpochMs, Refusal, UserId};
use tokio::sync::{Notify, oneshot};

use crate::lines::{Key, Lines, Taken};
use crate::{Answer, Batcher, Stock};

pub(crate) type Reply = oneshot::Sender<Answer>;

pub(crate) struct Waiting {
    pub(crate) claim: Claim,
    pub(crate) since: EpochMs,
    pub(crate) reply: Reply,
}

#[derive(Default)]
pub(crate) struct Line {
    pub(crate) waiting: VecDeque<Waiting>,
    /// How many of them, from the front, were there at the last look of [`Line::overdue`], and when that was.
    marked: usize,
    marked_at: Option<Instant>,
    /// Whether a [`Gathering`] is with the store that it has not taken yet.
    pub(crate) announced: bool,
    /// Batches with the store, announced ones included.
    pub(crate) under_way: usize,
    /// Whether the store has a batch that it has not answered in time: nobody lines up until it has.
    pub(crate) hangs: bool,
}

impl Line {
    /// The oldest claim, where it has waited too long while more wait than a batch carries.
    pub(crate) fn too_late(&mut self, now: EpochMs, wait_ms_max: i64) -> Option<Waiting> {
        let too_many = Batcher::BATCH_SIZE_MAX < self.waiting.len();
        let is_late = |oldest: &Waiting| wait_ms_max < now.since(oldest.since);
        (too_many && self.waiting.front().is_some_and(is_late)).then(|| self.leave(1).next())?
    }

    /// Claims that were in line `limit` ago already. To be asked again and again: it remembers who is there, and needs no clock a claim.
    pub(crate) fn overdue(&mut self, limit: Duration) -> Vec<Waiting> {
        let marked_at = *self.marked_at.get_or_insert_with(Instant::now);
        if marked_at.elapsed() < limit {
            return Vec::new();
        }
        let overdue = self.waiting.drain(..self.marked).collect();
        (self.marked, self.marked_at) = (self.waiting.len(), Some(Instant::now()));
        overdue
    }

    /// The first `size` claims leave the line.
    pub(crate) fn leave(&mut self, size: usize) -> impl Iterator<Item = Waiting> {
        self.marked = self.marked.saturating_sub(size);
        self.waiting.drain(..size)
    }

    /// The claim at a place from the front leaves the line.
    pub(crate) fn push_out(&mut self, at: usize) -> Option<Waiting> {
        self.marked -= usize::from(at < self.marked);
        self.waiting.remove(at)
    }

    /// All of them do.
    pub(crate) fn empty(&mut self) -> impl Iterator<Item = Waiting> {
        self.leave(self.waiting.len())
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
        let Waiting { claim, .. } = lines.line(self.key)?.waiting.front()?;
        Some((claim.activity, claim.user.clone()))
    }

    /// The batch, closed now; the oldest claim first. It may be empty. Claims that have waited too long are shed.
    #[must_use]
    pub fn take(self) -> Vec<Claim> {
        let now = self.shared.store.now();
        let Taken { late, claims, more, .. } = {
            let mut lines = self.shared.lines.lock();
            let mut taken = lines.take(self.key, now, self.shared.bounds.wait_ms_max);
            *self.callers.lock() = Callers {
                taken_at: Some(Instant::now()),
                replies: std::mem::take(&mut taken.replies),
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
