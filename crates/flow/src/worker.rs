//! The loop around [`Settle`]: waits for tickets, yields to admission, survives a panic of one pass, stops between passes.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt;
use seckill_ledger::Context;
use seckill_queue::Queue;
use seckill_sale::{ActivityId, EpochMs};
use seckill_stock::Stock;
use tokio_util::sync::CancellationToken;

use crate::wait_ms;
use crate::{Operator, Pass, Settle, WorkerCounts};

/// When settlement gives way to admission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Yielding {
    /// Backlog limit in tickets; from half of it on settlement has priority.
    pub backlog_max: u64,
}

impl Yielding {
    /// A backlog below this is worked off at once: nobody is rushing in.
    const BACKLOG_MIN: u64 = 128;
    /// A ticket older than this is settled whatever else goes on.
    const WAIT_MS_MAX: i64 = 1_000;
    /// Admission counts as rushing while its last ticket is younger than this.
    const RUSH_MS: i64 = 20;

    /// Whether settlement should wait a moment.
    #[must_use]
    pub fn gives_way(self, depth: seckill_queue::Depth, now: EpochMs) -> bool {
        let rushing = depth.newest_accepted_at.is_some_and(|at| now.since(at) < Self::RUSH_MS);
        let fresh = wait_ms(depth.oldest_accepted_at, now) < Self::WAIT_MS_MAX;
        rushing && fresh && Self::BACKLOG_MIN <= depth.tickets && depth.tickets < self.backlog_max / 2
    }
}

/// One worker.
pub struct Worker {
    settle: Arc<Settle>,
    stock: Arc<dyn Stock>,
    queue: Arc<dyn Queue>,
    operator: Arc<Operator>,
    yielding: Arc<dyn Fn() -> Yielding + Send + Sync>,
    counts: Arc<WorkerCounts>,
}

impl Worker {
    /// Pause between two looks while admission has priority.
    const YIELD_PAUSE: Duration = Duration::from_millis(5);
    /// Pause after a pass that could not reach ledger or queue, doubled up to [`Self::TROUBLE_PAUSE_MAX`].
    const TROUBLE_PAUSE: Duration = Duration::from_millis(50);
    /// Longest pause.
    const TROUBLE_PAUSE_MAX: Duration = Duration::from_secs(2);

    /// A worker that is to be run, and counts as running until it is dropped, over `settle` on the operator's layers; `yielding` is asked before each pass, since its limit is a switch.
    #[must_use]
    pub fn new(
        settle: Arc<Settle>,
        operator: Arc<Operator>,
        yielding: Arc<dyn Fn() -> Yielding + Send + Sync>,
        counts: Arc<WorkerCounts>,
    ) -> Self {
        let (stock, queue) = (operator.layers().stock.clone(), operator.layers().queue.clone());
        counts.running.fetch_add(1, Ordering::SeqCst);
        Self {
            settle,
            stock,
            queue,
            operator,
            yielding,
            counts,
        }
    }

    /// Works until `shutdown`; a batch that was begun is finished.
    pub async fn run(self, shutdown: CancellationToken) {
        let mut pause = Self::TROUBLE_PAUSE;
        while !shutdown.is_cancelled() {
            tokio::select! {
                () = shutdown.cancelled() => break,
                () = self.queue.ready() => {}
                () = self.settle.strays_wait() => {}
            }
            if (self.yielding)().gives_way(self.queue.depth(), self.stock.now()) {
                tokio::time::sleep(Self::YIELD_PAUSE).await;
                continue;
            }
            if self.pass().await {
                pause = Self::TROUBLE_PAUSE;
            } else {
                tokio::select! {
                    () = shutdown.cancelled() => break,
                    () = tokio::time::sleep(pause) => {}
                }
                pause = (pause * 2).min(Self::TROUBLE_PAUSE_MAX);
            }
        }
    }

    /// One pass; false where something could not be reached.
    async fn pass(&self) -> bool {
        match AssertUnwindSafe(self.settle.pass()).catch_unwind().await {
            Ok(Ok(pass)) => {
                self.count(pass);
                if let Some(activity) = pass.activity.filter(|_| 0 < pass.oversold) {
                    self.fence(activity).await;
                }
                !pass.ledger_down
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the queue cannot be used");
                false
            }
            Err(_) => {
                tracing::error!("a settlement pass panicked; its tickets are handed out again, one by one");
                self.counts.panics.fetch_add(1, Ordering::SeqCst);
                false
            }
        }
    }

    /// The ledger had no unit for a ticket of this sale: its store has lost state. Nobody is admitted until an operator has looked.
    async fn fence(&self, activity: ActivityId) {
        tracing::error!(%activity, "the store has admitted more than the ledger has; the sale is paused. Reconcile, then resume it");
        let context = Context {
            actor: "settlement".to_owned(),
            now: self.stock.now(),
            idempotency: None,
        };
        if let Err(error) = self.operator.pause(activity, None, context).await {
            tracing::error!(%error, %activity, "an oversold sale could not be paused");
        }
    }

    fn count(&self, pass: Pass) {
        let counts = &self.counts;
        counts.orders_written.fetch_add(pass.orders_written, Ordering::Relaxed);
        if let Some(activity) = pass.activity.filter(|_| 0 < pass.orders_written) {
            *counts.of_activities.lock().entry(activity).or_default() += pass.orders_written;
        }
        counts.buried.fetch_add(pass.buried, Ordering::Relaxed);
        counts.retried.fetch_add(pass.retried, Ordering::Relaxed);
        counts.oversold.fetch_add(pass.oversold, Ordering::Relaxed);
        if 0 < pass.taken {
            counts.last_batch_at.store(self.stock.now().0, Ordering::Relaxed);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.counts.running.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use seckill_queue::Depth;

    use super::*;

    fn gives_way(tickets: u64, oldest_ms: i64, newest_ms: i64) -> bool {
        let now = EpochMs(10_000);
        let at = |ms: i64| Some(now.plus(-ms));
        let depth = Depth {
            tickets,
            oldest_accepted_at: at(oldest_ms),
            newest_accepted_at: at(newest_ms),
            dead: 0,
        };
        Yielding { backlog_max: 10_000 }.gives_way(depth, now)
    }

    #[test]
    fn settlement_gives_way_only_to_a_rush_that_is_young_and_below_half_of_the_limit() {
        assert!(gives_way(1_000, 500, 0));
        assert!(!gives_way(100, 500, 0), "a small backlog is worked off at once");
        assert!(!gives_way(1_000, 1_000, 0), "a ticket waits long enough");
        assert!(!gives_way(5_000, 500, 0), "the backlog is at half of its limit");
        assert!(!gives_way(1_000, 500, 20), "nobody rushes in any more");
    }
}
