//! Gathers single claims of one core into batches. While one batch is with the store the next gathers; a lone claim never waits.
//!
//! ```text
//! claim ─▶ waiting ─▶ Gathering (the store is told that claims wait) ─▶ take: the batch is formed ─▶ answers
//! ```
//! A batch is formed when the store begins with it and not when it is announced, so a store that serves several cores finds the claims
//! of all of them: announced as ready batches, they would take turns, and each core would wait for the frames of the others.
//!
//! One [`Batcher`] a core, run as a task there; handlers hold the cheap [`Claims`] handle. It is bounded by count and by time: past
//! `waiting_max` claims are shed at once, a claim that waits too long while more wait than a batch carries is shed, and a store that
//! doesn't answer in time keeps nobody. A caller that goes away leaves its claim in the batch: it is decided whole, never half.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use seckill_sale::{ActivityId, Refusal};
use tokio::sync::Notify;

use crate::line::{Bounds, Callers, Decides, Gathering, Shared, refuse, refuse_late};
use crate::lines::{Key, Lines, UNDER_WAY_MAX};
use crate::{Answer, Claims, Stock};

/// Sales whose batches are with the store at the same time, where it serves each by itself: a slow server may have a third of all of them.
const SALES_UNDER_WAY_MAX: usize = 64;

/// Told of each batch.
type Observer = Box<dyn Fn(Step<'_>) + Send + Sync>;

/// A batch that the store is done with.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// How long the store took over it, from when it took it.
    pub took: Duration,
    /// How many of its claims came to which sale; each sale once.
    pub of_sales: &'a [(ActivityId, usize)],
}

/// The task that carries batches to the store.
pub struct Batcher {
    shared: Arc<Shared>,
    carriers: usize,
    observer: Option<Observer>,
}

impl Batcher {
    /// Largest batch handed to the store.
    pub const BATCH_SIZE_MAX: usize = 256;

    /// A batcher in front of `stock` that holds at most `waiting_max` claims, for as long as the store makes them wait.
    #[must_use]
    pub fn new(stock: Arc<dyn Stock>, waiting_max: usize) -> (Self, Claims) {
        let bounds = Bounds {
            waiting_max,
            wait_ms_max: i64::MAX,
            answer_within: None,
        };
        Self::bounded(stock, bounds)
    }

    /// A batcher in front of `stock` within `bounds`.
    #[must_use]
    pub fn bounded(stock: Arc<dyn Stock>, bounds: Bounds) -> (Self, Claims) {
        Self::before(Box::new(stock), bounds, false)
    }

    /// The same in front of a store that serves each sale by itself: batches are of one sale, and a sale whose part of the store is slow
    /// keeps nobody else waiting.
    #[must_use]
    pub fn apart(stock: Arc<dyn Stock>, bounds: Bounds) -> (Self, Claims) {
        Self::before(Box::new(stock), bounds, true)
    }

    pub(crate) fn before(store: Box<dyn Decides>, bounds: Bounds, apart: bool) -> (Self, Claims) {
        let shared = Arc::new(Shared {
            store,
            lines: Mutex::new(Lines::new(apart)),
            arrived: Notify::new(),
            bounds,
        });
        let claims = Claims(shared.clone());
        let sales = if apart { SALES_UNDER_WAY_MAX } else { 1 };
        let batcher = Self {
            shared,
            carriers: sales * UNDER_WAY_MAX,
            observer: None,
        };
        (batcher, claims)
    }

    /// The same, and `observer` is told of each batch.
    #[must_use]
    pub fn observed(mut self, observer: impl Fn(Step<'_>) + Send + Sync + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Carries batches for ever; to be dropped at shutdown after the last request was answered.
    ///
    /// Two of a line: while the store works on the one, the other gathers.
    pub async fn run(self) {
        let carriers: FuturesUnordered<_> = (0..self.carriers).map(|_| self.carry()).collect();
        carriers.collect::<()>().await;
    }

    async fn carry(&self) {
        loop {
            let key = self.announce().await;
            let callers = Arc::new(Mutex::new(Callers::default()));
            let gathering = Gathering {
                shared: self.shared.clone(),
                key,
                callers: callers.clone(),
            };
            let answers = self.answers(gathering, &callers).await;
            let Callers {
                taken_at,
                replies,
                of_sales,
            } = mem::take(&mut *callers.lock());
            let unseen = self.shared.lines.lock().finish(key, taken_at.is_some());
            // The store went away without taking the batch.
            refuse(unseen, &Refusal::Busy);
            if let (Some(observer), Some(taken_at)) = (&self.observer, taken_at) {
                observer(Step {
                    took: taken_at.elapsed(),
                    of_sales: &of_sales,
                });
            }
            for (reply, answer) in replies.into_iter().zip(answers) {
                // A caller that went away does not take its answer; it can ask again with its key.
                let _ = reply.send(answer);
            }
        }
    }

    /// Returns when a claim waits in a line that the store has not been told of.
    async fn announce(&self) -> Key {
        loop {
            let told = self.shared.lines.lock().announce();
            if let Some((key, more)) = told {
                if more {
                    self.shared.arrived.notify_one();
                }
                return key;
            }
            self.shared.arrived.notified().await;
        }
    }

    /// The store's answers, however long they take; callers are told that they are late.
    async fn answers(&self, gathering: Gathering, callers: &Mutex<Callers>) -> Vec<Answer> {
        let key = gathering.key;
        let mut asked = self.shared.store.claim_gathered(gathering);
        let Some(limit) = self.shared.bounds.answer_within else {
            return asked.await;
        };
        let mut patience = limit;
        loop {
            match tokio::time::timeout(patience, &mut asked).await {
                Ok(answers) => return answers,
                Err(_late) => patience = self.stop_waiting(key, callers, limit),
            }
        }
    }

    /// Answers those who have waited for `limit`; gives the time after which to look again. The store has `limit` from the moment at which
    /// it took the batch; whoever waits in line is looked after meanwhile, since nobody else may be there to announce him.
    fn stop_waiting(&self, key: Key, callers: &Mutex<Callers>, limit: Duration) -> Duration {
        let overdue = self.shared.lines.lock().overdue(key, limit);
        refuse_late(overdue);
        let mut callers = callers.lock();
        let had = callers.taken_at.map_or(Duration::ZERO, |taken_at| taken_at.elapsed());
        if had < limit {
            return limit - had;
        }
        if let Some(line) = self.shared.lines.lock().line(key) {
            line.hangs = true;
        }
        for reply in mem::take(&mut callers.replies) {
            let _ = reply.send(Err(Refusal::OutcomeUnknown));
        }
        limit
    }
}

impl Drop for Batcher {
    fn drop(&mut self) {
        self.shared.lines.lock().close();
    }
}

#[cfg(test)]
#[path = "batcher_tests.rs"]
mod tests;
