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
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;
use seckill_sale::{Claim, Refusal};
use tokio::sync::{Notify, oneshot};

use crate::line::{Bounds, Callers, Gathering, Shared, Waiting, refuse, refuse_late};
use crate::{Answer, Stock};

/// Handle for those who claim.
#[derive(Clone)]
pub struct Claims(Arc<Shared>);

impl Claims {
    /// Asks the store for units. The claim goes on even where the caller stops waiting.
    ///
    /// # Errors
    /// The store's refusal; [`Refusal::Busy`] where it was not handed to the store since too many claims wait, [`Refusal::Late`] where it
    /// was not since it waited too long; [`Refusal::OutcomeUnknown`] where the store has it and doesn't answer in time.
    pub fn claim(&self, claim: Claim) -> impl Future<Output = Answer> + Send + use<> {
        // In line before the first poll, so that the future keeps no claim while it waits.
        let answer = self.line_up(claim);
        async move { answer?.await.unwrap_or(Err(Refusal::OutcomeUnknown)) }
    }

    fn line_up(&self, claim: Claim) -> Result<oneshot::Receiver<Answer>, Refusal> {
        if self.0.hangs.load(Relaxed) {
            return Err(Refusal::Busy);
        }
        let (reply, answer) = oneshot::channel();
        let since = self.0.stock.now();
        let Bounds {
            waiting_max,
            wait_ms_max,
            ..
        } = self.0.bounds;
        let (first, late) = {
            let mut line = self.0.line.lock();
            if line.closed || waiting_max <= line.waiting.len() {
                return Err(Refusal::Busy);
            }
            line.waiting.push_back(Waiting { claim, since, reply });
            // Everybody who comes sends two late ones away, so that refusals are spread over the time and don't come in bursts.
            let late = [line.too_late(since, wait_ms_max), line.too_late(since, wait_ms_max)];
            (line.waiting.len() == 1 && !line.announced, late)
        };
        refuse_late(late.into_iter().flatten());
        if first {
            self.0.arrived.notify_one();
        }
        Ok(answer)
    }

    /// Claims that wait for their batch.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.line.lock().waiting.len()
    }
}

/// The task that carries batches to the store.
pub struct Batcher {
    shared: Arc<Shared>,
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
        let shared = Arc::new(Shared {
            stock,
            line: Mutex::default(),
            arrived: Notify::new(),
            bounds,
            hangs: AtomicBool::new(false),
        });
        let claims = Claims(shared.clone());
        (Self { shared }, claims)
    }

    /// Carries batches for ever; to be dropped at shutdown after the last request was answered.
    ///
    /// Two of them: while the store works on the one, the other gathers.
    pub async fn run(self) {
        tokio::join!(self.carry(), self.carry());
    }

    async fn carry(&self) {
        loop {
            self.announce().await;
            let callers = Arc::new(Mutex::new(Callers::default()));
            let gathering = Gathering {
                shared: self.shared.clone(),
                callers: callers.clone(),
            };
            let answers = self.answers(gathering, &callers).await;
            self.shared.hangs.store(false, Relaxed);
            let Callers { taken_at, replies } = mem::take(&mut *callers.lock());
            if taken_at.is_none() {
                self.give_up_waiting();
            }
            for (reply, answer) in replies.into_iter().zip(answers) {
                // A caller that went away does not take its answer; it can ask again with its key.
                let _ = reply.send(answer);
            }
        }
    }

    /// Returns when a claim waits that the store has not been told of.
    async fn announce(&self) {
        loop {
            {
                let mut line = self.shared.line.lock();
                if !line.announced && !line.waiting.is_empty() {
                    line.announced = true;
                    return;
                }
            }
            self.shared.arrived.notified().await;
        }
    }

    /// The store's answers, however long they take; callers are told that they are late.
    async fn answers(&self, gathering: Gathering, callers: &Mutex<Callers>) -> Vec<Answer> {
        let mut asked = self.shared.stock.claim_gathered(gathering);
        let Some(limit) = self.shared.bounds.answer_within else {
            return asked.await;
        };
        let mut patience = limit;
        loop {
            match tokio::time::timeout(patience, &mut asked).await {
                Ok(answers) => return answers,
                Err(_late) => patience = self.stop_waiting(callers, limit),
            }
        }
    }

    /// Answers those who have waited for `limit`; gives the time after which to look again. The store has `limit` from the moment at which
    /// it took the batch; whoever waits in line is looked after meanwhile, since nobody else may be there to announce him.
    fn stop_waiting(&self, callers: &Mutex<Callers>, limit: Duration) -> Duration {
        refuse_late(self.shared.line.lock().overdue(limit));
        let mut callers = callers.lock();
        let had = callers.taken_at.map_or(Duration::ZERO, |taken_at| taken_at.elapsed());
        if had < limit {
            return limit - had;
        }
        self.shared.hangs.store(true, Relaxed);
        for reply in mem::take(&mut callers.replies) {
            let _ = reply.send(Err(Refusal::OutcomeUnknown));
        }
        limit
    }

    /// The store went away without taking the batch.
    fn give_up_waiting(&self) {
        let unseen = {
            let mut line = self.shared.line.lock();
            line.announced = false;
            line.empty().collect::<Vec<_>>()
        };
        refuse(unseen, &Refusal::Busy);
    }
}

impl Drop for Batcher {
    fn drop(&mut self) {
        let mut line = self.shared.line.lock();
        line.closed = true;
        line.empty().for_each(drop);
    }
}
