//! The clockwork of a node: preheats, resumes, closes, forgets, makes rounds, moves units, expires orders, and repairs what a crash left
//! between two steps.
//!
//! [`Scheduler::tick`] does everything that is due at a moment and says when it wants to be called again; it waits for nothing, so a test
//! drives it with a clock of its own. [`Scheduler::run`] is the thin loop around it. Two schedulers at once are harmless: every step is
//! guarded by the ledger. What fails is logged and does not hold up the rest.

mod coming;
mod forget;
mod healing;
mod local;
mod occurrences;
mod rounds;
mod tick;
mod ticked;
mod trials;

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use seckill_sale::{ActivityId, EpochMs, Terms};
use tokio_util::sync::CancellationToken;

use coming::Coming;
pub use occurrences::{Error as OccurrencesError, Occurrences};
pub use rounds::ROUNDS_A_TICK;
pub use ticked::{Failure, Part, Ticked};
use trials::Trials;

use crate::Operator;

/// How often a store that processes share is told the rules of a sale again, in milliseconds.
const SYNC_AGAIN_MS: i64 = 5_000;

/// When the scheduler acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedulerSettings {
    /// How long before its start a sale is preheated, in milliseconds.
    pub preheat_before_ms: i64,
    /// How long after its end a sale is closed and its unsold units return to the product, in milliseconds.
    pub close_after_end_ms: i64,
    /// How long after its end the store keeps a closed sale in memory, in milliseconds.
    pub forget_after_ms: i64,
    /// Closed sales that the store keeps at most: one more, and the one that ended first is forgotten before its time. A closed sale
    /// costs memory, and rounds may come by the minute.
    pub closed_kept_max: usize,
    /// Longest wait between two ticks, in milliseconds: what another process wrote into the ledger is known here after it.
    pub tick_ms_max: i64,
    /// How often things that only a crash leaves behind are looked for, in milliseconds.
    pub repair_every_ms: i64,
}

impl Default for SchedulerSettings {
    fn default() -> Self {
        Self {
            preheat_before_ms: 10 * 60 * 1000,
            close_after_end_ms: 60 * 1000,
            forget_after_ms: 24 * 3600 * 1000,
            closed_kept_max: 32,
            tick_ms_max: 500,
            repair_every_ms: 10 * 1000,
        }
    }
}

/// Does what is due.
pub struct Scheduler {
    operator: Arc<Operator>,
    settings: SchedulerSettings,
    /// Version and rules of each activity that the store has for sure: in a ledger that was restored from a copy a version may have others.
    synced: HashMap<ActivityId, (u64, Terms, EpochMs)>,
    /// Closed sales whose units are all returned. One is closed no more where the ledger was restored from an older copy.
    closed: HashSet<ActivityId>,
    /// First states that somebody may be building.
    coming: Coming,
    /// States that could not be healed.
    trials: Trials,
    repaired_at: Option<EpochMs>,
}

impl Scheduler {
    /// Waits at least this long between two ticks, in milliseconds, also where everything is due at once: others need the database too.
    const TICK_MS_MIN: i64 = 5;

    /// A scheduler that has done nothing yet.
    #[must_use]
    pub fn new(operator: Arc<Operator>, settings: SchedulerSettings) -> Self {
        Self {
            operator,
            settings,
            synced: HashMap::new(),
            closed: HashSet::new(),
            coming: Coming::default(),
            trials: Trials::default(),
            repaired_at: None,
        }
    }

    /// Ticks until `shutdown`, and tells `listener` what each tick did; a tick that was begun is finished. While another node schedules
    /// (`leads` says no), this one only reads the activities.
    pub async fn run(
        mut self,
        shutdown: CancellationToken,
        leads: impl Fn() -> bool + Send,
        mut listener: impl FnMut(&Ticked) + Send,
    ) {
        let changed = self.operator.changed();
        while !shutdown.is_cancelled() {
            let now = self.operator.layers().stock.now();
            let ticked = AssertUnwindSafe(self.turn(now, leads())).catch_unwind().await;
            let next_at = match ticked {
                Ok(ticked) => {
                    listener(&ticked);
                    ticked.next_at
                }
                // A bug in one part must not end all others; the next tick begins anew.
                Err(_) => {
                    tracing::error!("the scheduler panicked; it goes on with the next tick");
                    now.plus(self.settings.tick_ms_max)
                }
            };
            let wait_ms = next_at.since(now).min(self.settings.tick_ms_max).max(Self::TICK_MS_MIN);
            let wait = Duration::from_millis(wait_ms.unsigned_abs());
            tokio::select! {
                () = shutdown.cancelled() => break,
                () = changed.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// A tick, or what a node does that does not schedule.
    async fn turn(&mut self, now: EpochMs, leads: bool) -> Ticked {
        if leads {
            return self.tick(now).await;
        }
        let mut ticked = Ticked {
            next_at: now.plus(self.settings.tick_ms_max),
            ..Ticked::default()
        };
        ticked.note(Part::Catalogue, None, self.operator.refresh_catalogue().await);
        ticked
    }
}
