//! How far a purchase is, for polls and streams, and the hub that wakes streams when a result is final.
//!
//! A result is read from the store; where the store has forgotten a sale that ended long ago, from the ledger.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use seckill_ledger::{Ledger, RecordState};
use seckill_sale::{ActivityId, FailureReason, OrderNo, Refusal, Ticket, TicketState, UserId};
use seckill_stock::{Glance, Stock};
use tokio::sync::Notify;

use crate::Pace;

/// How far a buyer's purchase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Waits for its order.
    Queued {
        /// Tickets accepted earlier that are not settled yet. Never rises.
        ahead: u64,
        /// Orders written a second, lately.
        settle_per_s: u64,
        /// Whether it is parked and waits for an operator.
        delayed: bool,
    },
    /// The order is there.
    Succeeded {
        /// Its number.
        order_no: OrderNo,
    },
    /// There will be no order.
    Failed {
        /// Why.
        reason: FailureReason,
    },
}

/// A buyer's own result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PurchaseResult {
    /// His ticket.
    pub ticket: Ticket,
    /// How far it is.
    pub progress: Progress,
}

/// Reads results and wakes those who wait for one.
pub struct Results {
    stock: Arc<dyn Stock>,
    ledger: Arc<dyn Ledger>,
    pace: Arc<Pace>,
    hub: Hub,
}

impl Results {
    /// Results of `stock`, and of `ledger` where the store has forgotten.
    #[must_use]
    pub fn new(stock: Arc<dyn Stock>, ledger: Arc<dyn Ledger>, pace: Arc<Pace>) -> Self {
        Self {
            stock,
            ledger,
            pace,
            hub: Hub::new(),
        }
    }

    /// A buyer's own result; none where he has no ticket. No IO while the store is in this process and knows the sale.
    ///
    /// # Errors
    /// [`Refusal::Busy`] or [`Refusal::NotReady`] where neither store nor ledger answers.
    pub async fn of(&self, activity: ActivityId, user: &UserId) -> Result<Option<PurchaseResult>, Refusal> {
        let buyer = match self.stock.glance(activity, user) {
            Glance::Holds(buyer) => Some(*buyer),
            Glance::SoldOut | Glance::Stranger => return Ok(None),
            Glance::Ask => self.stock.buyer(activity, user).await?,
        };
        match buyer {
            Some(buyer) => Ok(Some(self.result(buyer.ticket, buyer.state))),
            None if self.stock.stock_left(activity).is_some() => Ok(None),
            None => self.ask_ledger(activity, user).await,
        }
    }

    fn result(&self, ticket: Ticket, state: TicketState) -> PurchaseResult {
        let queued = |delayed| {
            let settled = self.stock.settled_up_to(ticket).unwrap_or(u64::MAX);
            let ahead = ticket.sequence.saturating_sub(1).saturating_sub(settled);
            Progress::Queued {
                ahead,
                settle_per_s: self.pace.per_second(),
                delayed,
            }
        };
        let progress = match state {
            TicketState::Queued => queued(false),
            TicketState::Dead => queued(true),
            TicketState::Succeeded => Progress::Succeeded {
                order_no: ticket.order_no(),
            },
            TicketState::Failed(reason) => Progress::Failed { reason },
        };
        PurchaseResult { ticket, progress }
    }

    async fn ask_ledger(&self, activity: ActivityId, user: &UserId) -> Result<Option<PurchaseResult>, Refusal> {
        let record = self.ledger.record(activity, user).await.map_err(|error| {
            tracing::warn!(%error, %activity, "a result could not be read from the ledger");
            Refusal::Busy
        })?;
        Ok(record.map(|record| {
            let state = match record.state {
                RecordState::Parked => TicketState::Dead,
                RecordState::Succeeded => TicketState::Succeeded,
                RecordState::Failed(reason) => TicketState::Failed(reason),
            };
            self.result(record.ticket, state)
        }))
    }

    /// Waits for changes of one buyer's result. Subscribe first, then read: no change is missed.
    #[must_use]
    pub fn subscribe(self: &Arc<Self>, activity: ActivityId, user: UserId) -> Subscription {
        let notify = self.hub.add((activity, user.clone()));
        Subscription {
            results: self.clone(),
            topic: (activity, user),
            notify,
        }
    }

    /// Wakes those who wait for these buyers.
    pub fn publish<'a>(&self, buyers: impl Iterator<Item = (ActivityId, &'a UserId)>) {
        self.hub.wake(buyers);
    }
}

type Topic = (ActivityId, UserId);

struct Hub {
    hasher: RandomState,
    shards: Vec<Mutex<HashMap<Topic, Vec<Arc<Notify>>>>>,
    waiting: AtomicUsize,
}

impl Hub {
    const SHARDS: usize = 16;

    fn new() -> Self {
        let shards = (0..Self::SHARDS).map(|_| Mutex::default()).collect();
        Self {
            hasher: RandomState::new(),
            shards,
            waiting: AtomicUsize::new(0),
        }
    }

    fn shard(&self, topic: &Topic) -> &Mutex<HashMap<Topic, Vec<Arc<Notify>>>> {
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits choose the shard")]
        let at = self.hasher.hash_one(topic) as usize % Self::SHARDS;
        &self.shards[at]
    }

    fn add(&self, topic: Topic) -> Arc<Notify> {
        let notify = Arc::new(Notify::new());
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.shard(&topic).lock().entry(topic).or_default().push(notify.clone());
        notify
    }

    fn remove(&self, topic: &Topic, notify: &Arc<Notify>) {
        let mut shard = self.shard(topic).lock();
        if let Some(waiting) = shard.get_mut(topic) {
            waiting.retain(|other| !Arc::ptr_eq(other, notify));
            if waiting.is_empty() {
                shard.remove(topic);
            }
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    fn wake<'a>(&self, buyers: impl Iterator<Item = (ActivityId, &'a UserId)>) {
        if self.waiting.load(Ordering::SeqCst) == 0 {
            return;
        }
        for (activity, user) in buyers {
            let topic = (activity, user.clone());
            let waiting = self.shard(&topic).lock().get(&topic).cloned().unwrap_or_default();
            waiting.iter().for_each(|notify| notify.notify_one());
        }
    }
}

/// Somebody who waits for one buyer's result.
pub struct Subscription {
    results: Arc<Results>,
    topic: Topic,
    notify: Arc<Notify>,
}

impl Subscription {
    /// Returns when the result may have changed since the subscription or the last call.
    pub async fn changed(&self) {
        self.notify.notified().await;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.results.hub.remove(&self.topic, &self.notify);
    }
}
