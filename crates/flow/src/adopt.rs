//! Tickets that a worker had when their state was lost, and those that this node admitted to it: offered to the state that took its place, until it has answered for each.
//!
//! ```text
//! refused for its epoch, or not acknowledged ──▶ stray ──adopt──▶ waits again, with a unit
//!                                                  ▲  │            known already · void: its buyer has another
//!                                   no state now ──┘  └─no unit──▶ failed, in the ledger and then in the state
//! ```
//! A worker that dies with strays loses them: nobody else has them any more.

use std::collections::BTreeMap;
use std::mem;
use std::time::Duration;

use parking_lot::Mutex;
use seckill_ledger::{SettleBatch, TicketResult};
use seckill_queue::{Adopted, Adoption, Verdict, Verdicts};
use seckill_sale::{ActivityId, Delivery, Epoch, Status};
use seckill_stock::Condition;

use crate::{Error, Settle};

/// Strays that are kept at most: as many as may wait for settlement by default.
const STRAYS_MAX: usize = 200_000;

/// Pause between two offers.
const STRAYS_PAUSE: Duration = Duration::from_millis(100);

/// Strays of all sales.
#[derive(Default)]
pub(crate) struct Strays(Mutex<Vec<Delivery>>);

impl Strays {
    pub(crate) fn keep(&self, tickets: Vec<Delivery>) {
        let mut strays = self.0.lock();
        let room = STRAYS_MAX.saturating_sub(strays.len());
        for lost in tickets.iter().skip(room) {
            tracing::error!(ticket = %lost.ticket, user = lost.user.as_str(), "a ticket of a lost state is lost: too many wait to be adopted");
        }
        strays.extend(tickets.into_iter().take(room));
    }

    fn take(&self) -> BTreeMap<ActivityId, Vec<Delivery>> {
        let mut sales: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for stray in mem::take(&mut *self.0.lock()) {
            sales.entry(stray.ticket.activity).or_default().push(stray);
        }
        sales
    }
}

impl Settle {
    /// Whether tickets of lost states wait to be adopted.
    #[must_use]
    pub fn has_strays(&self) -> bool {
        !self.strays.0.lock().is_empty()
    }

    /// Returns after a while where tickets wait to be adopted, else never: no queue announces them.
    pub(crate) async fn strays_wait(&self) {
        if !self.queue.loses_states() {
            std::future::pending::<()>().await;
        }
        loop {
            tokio::time::sleep(STRAYS_PAUSE).await;
            if self.has_strays() || self.queue.has_orphans() {
                return;
            }
        }
    }

    /// Epoch of the sale's state as last read.
    pub(crate) fn epoch_now(&self, activity: Option<ActivityId>) -> Option<Epoch> {
        Some(self.stock.last_seen(activity?)?.epoch)
    }

    /// Offers every stray, and what this node admitted to states that were lost; those that no state can take now stay. A worker does so by
    /// itself; a node without workers has to be told to, every now and then.
    pub async fn adopt_strays(&self) {
        self.strays.keep(self.queue.orphans());
        for (activity, mut tickets) in self.strays.take() {
            tickets.sort_unstable_by_key(|delivery| delivery.ticket.sequence);
            if let Err(error) = self.adopt(activity, &tickets).await {
                if self.is_over(activity).await && self.ledger.fail(self.batch_of(activity, &tickets)).await.is_ok() {
                    tracing::error!(%activity, tickets = tickets.len(), "tickets of a lost state fail: their sale is closed, and its state gone");
                    continue;
                }
                tracing::debug!(%activity, %error, tickets = tickets.len(), "no state can adopt tickets of a lost one yet");
                self.strays.keep(tickets);
            }
        }
    }

    async fn adopt(&self, activity: ActivityId, tickets: &[Delivery]) -> Result<(), Error> {
        let adopted = self.queue.adopt(tickets.to_vec(), Adoption::Waiting).await?;
        let of = |wanted: Adopted| {
            let pairs = tickets.iter().zip(&adopted);
            pairs
                .filter(move |(_, adopted)| **adopted == wanted)
                .map(|(delivery, _)| delivery)
        };
        for delivery in of(Adopted::Void) {
            tracing::warn!(ticket = %delivery.ticket, user = delivery.user.as_str(), "its buyer has another ticket since; this one is void");
        }
        self.fail(activity, of(Adopted::NoUnit).cloned().collect()).await?;
        // Where the state is the old one after all, they are still leased to this worker.
        let not_before = self.stock.now();
        let taken = of(Adopted::Waits).filter(|delivery| 0 < delivery.deliveries);
        let waits = taken.map(|delivery| (delivery.ticket, Verdict::GiveBack { not_before }));
        let verdicts = Verdicts {
            tickets: waits.collect(),
            settled_batch: 0,
        };
        self.queue.record(verdicts).await?;
        tracing::warn!(%activity, waits = of(Adopted::Waits).count(), known = of(Adopted::Known).count(), "tickets of a lost state were adopted");
        self.results
            .publish(tickets.iter().map(|delivery| (activity, &delivery.user)));
        Ok(())
    }

    /// Whether no state will ever take them.
    async fn is_over(&self, activity: ActivityId) -> bool {
        let is_absent = matches!(self.stock.condition(activity).await, Ok(Condition::Absent { .. }));
        let row = self.ledger.activity(activity).await;
        is_absent && row.is_ok_and(|row| row.status == Status::Closed)
    }

    fn batch_of(&self, activity: ActivityId, tickets: &[Delivery]) -> SettleBatch {
        SettleBatch {
            activity,
            tickets: tickets.to_vec(),
            now: self.stock.now(),
            pay_within_ms: self.options.pay_within_ms,
        }
    }

    /// The ledger has it first; where this ends halfway, reconciling finds a failure whose buyer the store does not know.
    async fn fail(&self, activity: ActivityId, tickets: Vec<Delivery>) -> Result<(), Error> {
        if tickets.is_empty() {
            return Ok(());
        }
        let settled = self.ledger.fail(self.batch_of(activity, &tickets)).await?;
        for (delivery, result) in tickets.into_iter().zip(settled.results) {
            let TicketResult::Failed(reason) = result else {
                // Its state was built from a ledger that has its order: it would have been known.
                tracing::error!(ticket = %delivery.ticket, "the ledger has an order that the store does not know");
                continue;
            };
            tracing::error!(ticket = %delivery.ticket, user = delivery.user.as_str(), "no unit is left for a ticket of a lost state; it fails");
            self.queue.adopt(vec![delivery], Adoption::Failed(reason)).await?;
        }
        Ok(())
    }
}
