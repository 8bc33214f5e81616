//! How far a purchase is, for polls and streams.
//!
//! A result is read from the store; where the store has forgotten a sale that ended long ago, from the ledger.

use std::sync::Arc;

use seckill_ledger::{Ledger, RecordState};
use seckill_sale::{ActivityId, FailureReason, NotReady, OrderNo, Refusal, Status, Ticket, TicketState, UserId};
use seckill_stock::{Glance, Stock};
use tokio::sync::Notify;

use crate::Pace;
use crate::hub::{Hub, Topic};

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
            Glance::Ask => match self.stock.buyer(activity, user).await.map_err(Refusal::from) {
                // The state is lost, or is being healed: the ledger has who was settled, and of the others nobody says that they have none.
                Err(refusal @ Refusal::NotReady(_)) => {
                    return self.ask_ledger(activity, user).await?.ok_or(refusal).map(Some);
                }
                buyer => buyer?,
            },
        };
        match buyer {
            Some(buyer) => Ok(Some(self.result(buyer.ticket, buyer.state))),
            None if self.stock.stock_left(activity).is_some() => Ok(None),
            None => match self.ask_ledger(activity, user).await? {
                None => self.unless_lost(activity).await.map(|()| None),
                found => Ok(found),
            },
        }
    }

    /// Refuses where there should be a state, and is none: whoever waits in it has a ticket, which is told again once it is healed.
    async fn unless_lost(&self, activity: ActivityId) -> Result<(), Refusal> {
        match self.ledger.activity(activity).await {
            Ok(row) if row.epoch.is_some() && row.status != Status::Closed => {
                Err(Refusal::NotReady(NotReady::Recovering))
            }
            Ok(_) | Err(seckill_ledger::Error::NotFound(_)) => Ok(()),
            Err(_) => Err(Refusal::Busy),
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
            // The ledger tells of an outage itself, once.
            if error.is_outage() {
                tracing::debug!(%error, %activity, "a result can't be read now");
            } else {
                tracing::warn!(%error, %activity, "a result could not be read from the ledger");
            }
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

    /// Wakes all who wait for a result of this sale: another process has written some.
    pub fn wake_sale(&self, activity: ActivityId) {
        self.hub.wake_sale(activity);
    }

    /// Wakes those who wait for these buyers.
    pub fn publish<'a>(&self, buyers: impl Iterator<Item = (ActivityId, &'a UserId)>) {
        self.hub.wake(buyers);
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
