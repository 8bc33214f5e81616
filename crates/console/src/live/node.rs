//! This node among the others: what it says of itself, and the recorder that its figures come from.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use seckill_flow::{WorkerCounts, wait_ms};
use seckill_metrics::{Facts, Followed, Recorder};
use seckill_sale::EpochMs;
use seckill_stock::{Living, Member, Members};
use tokio_util::sync::CancellationToken;

use super::figures::{Figures, Workers};
use crate::state::Console;

/// A node whose last beat is older counts as gone, in milliseconds. It beats once a second.
pub(crate) const AGE_MS_MAX: i64 = 5_000;

/// What the console needs to know of this node and the others.
pub struct Live {
    /// The nodes that share the store.
    pub members: Arc<dyn Members>,
    /// What this node is; [`Console::beat`] fills in when it says so, and its figures.
    pub member: Member,
    /// Records what this node does.
    pub recorder: Arc<Recorder>,
    /// What its workers have done.
    pub worker_counts: Arc<WorkerCounts>,
    /// Ends live streams when cancelled. To be cancelled before the listener's own token, so that streams can say goodbye.
    pub shutdown: CancellationToken,
}

impl Console {
    /// Looks at what this node counts; to be called every [`seckill_metrics::SLOT_MS`].
    pub fn sample(&self) {
        let (now, depth) = (self.now(), self.operator.layers().queue.depth());
        let catalogue = self.gate.catalogue().all();
        let counts = &self.live.worker_counts;
        let unended = catalogue
            .values()
            .filter(|activity| now < activity.window.ends_at.plus(1_000));
        let activities: Vec<_> = unended
            .map(|activity| Followed {
                id: activity.id.get(),
                starts_at_ms: activity.window.starts_at.0,
                ends_at_ms: activity.window.ends_at.0,
                stock_left: self.stock().stock_left(activity.id),
                orders_written: counts.orders_of(activity.id),
            })
            .collect();
        counts.forget(|id| catalogue.contains_key(&id));
        self.live.recorder.sample(&Facts {
            now_ms: now.0,
            queue_depth: depth.tickets,
            oldest_ms: wait_ms(depth.oldest_accepted_at, now).unsigned_abs(),
            orders_written: counts.orders_written.load(Ordering::Relaxed),
            activities: &activities,
        });
    }

    /// Tells the other nodes that this one lives, and its figures; to be called about once a second. `own_clock` is what this machine's
    /// clock shows now.
    ///
    /// # Errors
    /// The store did not take it.
    pub async fn beat(&self, own_clock: EpochMs) -> Result<(), seckill_stock::Error> {
        let figures = serde_json::to_string(&self.figures()).unwrap_or_default();
        let member = Member {
            sent_at: own_clock,
            figures,
            ..self.live.member.clone()
        };
        self.live.members.beat(member).await
    }

    /// What this node did within its last second.
    pub(crate) fn figures(&self) -> Figures {
        let counts = &self.live.worker_counts;
        let workers = Workers {
            running: counts.running.load(Ordering::Relaxed),
            last_batch_at: counts.last_batch_at.load(Ordering::Relaxed),
        };
        let database_up = self.metrics.database_up.value() != 0.0;
        Figures::new(&self.live.recorder.last_second(), workers, database_up)
    }

    /// The living nodes with their figures.
    pub(crate) async fn nodes(&self) -> Result<Vec<(Living, Figures)>, seckill_stock::Error> {
        let living = self.live.members.members(AGE_MS_MAX).await?;
        let with_figures = living.into_iter().map(|living| {
            let figures = Figures::read(&living.member.figures);
            (living, figures)
        });
        Ok(with_figures.collect())
    }
}
