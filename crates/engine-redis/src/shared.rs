//! What the parts of a handle share: the link, the clock, and the last summary of each sale.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use seckill_sale::{ActivityId, EpochMs, Figures, UserId};
use tokio::sync::{Mutex as Turn, Notify};

use crate::link::Link;
use crate::options::Options;
use crate::remembered::Remembered;
use crate::script::LOOK;
use crate::summary::{Answer, Outcome, Summary};
use crate::time::Time;
use crate::winners::AllWinners;
use crate::{Error, keys};

pub(crate) struct Shared {
    pub(crate) link: Arc<Link>,
    pub(crate) options: Options,
    pub(crate) time: Time,
    pub(crate) backlog_max: AtomicU64,
    /// Held while a claim call of this node is with the server: what comes meanwhile gathers.
    pub(crate) turn: Turn<()>,
    /// Wakes workers of this node when tickets can perhaps be taken.
    pub(crate) wake: Notify,
    /// Where the page of a walk over buyers goes on.
    pub(crate) cursors: Mutex<HashMap<(ActivityId, u32), u64>>,
    /// Wakes the task that loads the buyers of sold-out sales.
    pub(crate) sold_out: Notify,
    pub(crate) winners: AllWinners,
    pub(crate) remembered: Remembered,
    /// Sales whose admissions by other nodes are told to this one as they happen.
    pub(crate) watched: RwLock<HashSet<ActivityId>>,
    /// The last figures of states that are no more.
    pub(crate) seen: Mutex<HashMap<ActivityId, Figures>>,
    sales: RwLock<HashMap<ActivityId, Known>>,
}

/// The last reading of a sale.
struct Known {
    summary: Summary,
    read_at: Instant,
}

/// A reading older than this refuses nobody.
const FRESH: Duration = Duration::from_secs(1);

impl Shared {
    pub(crate) fn new(link: Arc<Link>, options: Options, time: Time) -> Self {
        Self {
            link,
            time,
            backlog_max: AtomicU64::new(options.backlog_max),
            turn: Turn::new(()),
            wake: Notify::new(),
            cursors: Mutex::default(),
            sold_out: Notify::new(),
            winners: AllWinners::default(),
            remembered: Remembered::default(),
            watched: RwLock::default(),
            seen: Mutex::default(),
            sales: RwLock::default(),
            options,
        }
    }

    pub(crate) fn remember(&self, activity: ActivityId, answer: &Answer) {
        match &answer.outcome {
            Outcome::Done(summary, _) => {
                self.remembered.settled(activity, summary);
                let mut sales = self.sales.write();
                let age = |summary: &Summary| (summary.figures.epoch, summary.figures.revision);
                // Answers may overtake one another.
                if sales
                    .get(&activity)
                    .is_none_or(|known| age(&known.summary) <= age(summary))
                {
                    let known = Known {
                        summary: (**summary).clone(),
                        read_at: Instant::now(),
                    };
                    sales.insert(activity, known);
                    drop(sales);
                    if summary.is_sold_out() {
                        self.sold_out.notify_one();
                    }
                    if summary.takable_since(self.time.now(), self.options.waits).is_some() {
                        self.wake.notify_waiters();
                    }
                }
            }
            Outcome::None => self.forget(activity),
            Outcome::Unusable(reason) => {
                tracing::error!(%activity, reason = reason.as_str(), "the state of a sale cannot be used; nobody is admitted to it");
            }
        }
    }

    pub(crate) fn forget(&self, activity: ActivityId) {
        if let Some(known) = self.sales.write().remove(&activity) {
            self.seen.lock().insert(activity, known.summary.figures);
        }
    }

    /// Looks at the last summary of a sale.
    pub(crate) fn with_sale<T>(&self, activity: ActivityId, look: impl FnOnce(Option<&Summary>) -> T) -> T {
        look(self.sales.read().get(&activity).map(|known| &known.summary))
    }

    /// Whether memory alone knows that this user has no ticket and that nothing is left for him.
    pub(crate) fn knows_sold_out(&self, activity: ActivityId, user: &UserId) -> bool {
        let sales = self.sales.read();
        let fresh = sales.get(&activity).filter(|known| known.read_at.elapsed() < FRESH);
        fresh.is_some_and(|Known { summary, .. }| {
            self.watched.read().contains(&activity)
                && summary.is_sold_out()
                && self.winners.knows_stranger(activity, summary.buyers_mark(), user)
        })
    }

    /// Folds over the last summaries of all sales.
    pub(crate) fn over_sales<T>(&self, start: T, mut fold: impl FnMut(T, ActivityId, &Summary) -> T) -> T {
        let sales = self.sales.read();
        sales
            .iter()
            .fold(start, |sum, (&activity, sale)| fold(sum, activity, &sale.summary))
    }

    /// Tickets that the queue may hold of this sale while the others hold what they were last seen to.
    pub(crate) fn room(&self, activity: ActivityId) -> u64 {
        let others = self.over_sales(0, |sum, other, sale| {
            sum + if other == activity {
                0
            } else {
                sale.figures.queued_tickets
            }
        });
        self.backlog_max.load(Ordering::Relaxed).saturating_sub(others)
    }

    pub(crate) async fn look(&self, activity: ActivityId) -> Result<Answer, Error> {
        self.call(&LOOK, activity, vec![b"summary".to_vec()]).await
    }

    /// Reads all sales again; those that have a state, whole or not.
    pub(crate) async fn refresh(&self) -> Result<Vec<ActivityId>, Error> {
        let listed: Vec<u64> = self.link.command(redis::cmd("SMEMBERS").arg(keys::SALES)).await?;
        let mut listed: Vec<_> = listed.into_iter().filter_map(|id| ActivityId::new(id).ok()).collect();
        listed.sort_unstable();
        let mut sales = Vec::with_capacity(listed.len());
        for activity in listed {
            if !matches!(self.look(activity).await?.outcome, Outcome::None) {
                sales.push(activity);
            }
        }
        Ok(sales)
    }

    /// The sale whose oldest takable ticket waits longest, `passed_over` aside.
    pub(crate) fn longest_wait(&self, passed_over: &[ActivityId]) -> Option<ActivityId> {
        let (now, waits) = (self.time.now(), self.options.waits);
        let longest = self.over_sales(None, |best: Option<(EpochMs, ActivityId)>, activity, sale| {
            let since = sale
                .takable_since(now, waits)
                .filter(|_| !passed_over.contains(&activity));
            let since = since.map(|since| (since, activity));
            best.into_iter().chain(since).min()
        });
        longest.map(|(_, activity)| activity)
    }
}
