//! Tickets that a worker had when their state was lost, and those that this node admitted to it: offered to the state that took its place, until it has answered for each.
//!
//! ```text
//! refused for its epoch, or not acknowledged ──▶ stray ──adopt──▶ waits again, with a unit
//!                                                  ▲  │            known already · void: its buyer has another
//!                                   no state now ──┘  └─no unit──▶ failed, in the ledger and then in the state
//! ```
//! A worker that dies with strays loses them: nobody else has them any more. Whether one has failed in the ledger is read there before it is
//! offered again, where it may have: a state that took it in with a unit would keep that unit for a ticket that has its result.

use std::time::Duration;

use seckill_ledger::{RecordState, SettleBatch, TicketResult};
use seckill_queue::{Adopted, Adoption, Orphans, Verdict, Verdicts};
use seckill_sale::{ActivityId, Delivery, Epoch, EpochMs, FailureReason, Status, Ticket};
use seckill_stock::Condition;

use crate::strays::Stray;
use crate::{Error, Settle};

/// Pause between two offers.
const STRAYS_PAUSE: Duration = Duration::from_millis(100);

impl Settle {
    /// Whether tickets of lost states wait to be adopted.
    #[must_use]
    pub fn has_strays(&self) -> bool {
        !self.strays.is_empty()
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
        for Orphans { tickets, created_at } in self.queue.orphans() {
            self.strays.keep(tickets, created_at);
        }
        for (activity, mut strays) in self.strays.take() {
            strays.sort_unstable_by_key(|stray| stray.delivery.ticket.sequence);
            if let Err(error) = self.adopt(activity, &mut strays).await {
                let tickets: Vec<_> = strays.iter().map(|stray| stray.delivery.clone()).collect();
                let created_at = strays.first().and_then(|stray| stray.created_at);
                if let Some(epoch) = self.over_at(activity).await
                    && self
                        .ledger
                        .fail_of(epoch, self.batch_of(activity, created_at, &tickets))
                        .await
                        .is_ok()
                {
                    tracing::error!(%activity, tickets = tickets.len(), "tickets of a lost state fail: their sale is closed, and its state gone");
                    continue;
                }
                tracing::debug!(%activity, %error, tickets = tickets.len(), "no state can adopt tickets of a lost one yet");
                self.strays.keep_all(strays);
            }
        }
    }

    /// Those that are still to be offered where this fails are left in `strays`.
    async fn adopt(&self, activity: ActivityId, strays: &mut Vec<Stray>) -> Result<(), Error> {
        // Of the state that answers, or of an older one: what has no unit there may have one in a newer one.
        let epoch = self.epoch_now(Some(activity));
        self.drop_others(activity, strays).await?;
        self.tell_failures(activity, strays).await?;
        if strays.is_empty() {
            return Ok(());
        }
        let tickets: Vec<_> = strays.iter().map(|stray| stray.delivery.clone()).collect();
        let adopted = self.queue.adopt(tickets.clone(), Adoption::Waiting).await?;
        let of = |wanted: Adopted| {
            let pairs = tickets.iter().zip(&adopted);
            pairs
                .filter(move |(_, adopted)| **adopted == wanted)
                .map(|(delivery, _)| delivery)
        };
        for delivery in of(Adopted::Void) {
            tracing::warn!(ticket = %delivery.ticket, user = delivery.user.as_str(), "its buyer has another ticket since; this one is void");
        }
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
        let mut outcomes = adopted.iter();
        strays.retain(|_| outcomes.next() == Some(&Adopted::NoUnit));
        self.fail(activity, epoch, strays).await
    }

    /// Those of a sale that the ledger has lost are no tickets of the one to which it gave that number again.
    async fn drop_others(&self, activity: ActivityId, strays: &mut Vec<Stray>) -> Result<(), Error> {
        let created_at = self.ledger.activity(activity).await?.created_at;
        strays.retain_mut(|stray| {
            let is_own = *stray.created_at.get_or_insert(created_at) == created_at;
            if !is_own {
                let Delivery { ticket, user, .. } = &stray.delivery;
                tracing::error!(%ticket, user = user.as_str(), "a ticket of a sale that the database has lost, and whose number it gave out again, is void");
            }
            is_own
        });
        Ok(())
    }

    /// The state hears of each stray that has failed in the ledger meanwhile.
    async fn tell_failures(&self, activity: ActivityId, strays: &mut Vec<Stray>) -> Result<(), Error> {
        let suspects = strays.iter().filter(|stray| stray.may_have_failed);
        let users: Vec<_> = suspects.map(|stray| stray.delivery.user.clone()).collect();
        if users.is_empty() {
            return Ok(());
        }
        let records = self.ledger.records_of(activity, users).await?;
        let failed = records.into_iter().filter_map(|record| match record.state {
            RecordState::Failed(reason) => Some((record.ticket, reason)),
            _ => None,
        });
        self.tell(activity, failed.collect(), strays).await
    }

    async fn tell(
        &self,
        activity: ActivityId,
        failed: Vec<(Ticket, FailureReason)>,
        strays: &mut Vec<Stray>,
    ) -> Result<(), Error> {
        for (ticket, reason) in failed {
            let Some(at) = strays.iter().position(|stray| stray.delivery.ticket == ticket) else {
                continue;
            };
            let delivery = strays[at].delivery.clone();
            tracing::error!(%ticket, user = delivery.user.as_str(), "no unit is left for a ticket of a lost state; it fails");
            self.queue.adopt(vec![delivery], Adoption::Failed(reason)).await?;
            let told = strays.remove(at).delivery;
            self.results.publish([(activity, &told.user)].into_iter());
        }
        Ok(())
    }

    /// The epoch of a sale that is closed and has no state: none will ever take them.
    async fn over_at(&self, activity: ActivityId) -> Option<Epoch> {
        let is_absent = matches!(self.stock.condition(activity).await, Ok(Condition::Absent { .. }));
        let row = self.ledger.activity(activity).await.ok()?;
        row.epoch.filter(|_| is_absent && row.status == Status::Closed)
    }

    fn batch_of(&self, activity: ActivityId, created_at: Option<EpochMs>, tickets: &[Delivery]) -> SettleBatch {
        SettleBatch {
            activity,
            created_at,
            tickets: tickets.to_vec(),
            now: self.stock.now(),
            pay_within_ms: self.options.pay_within_ms,
        }
    }

    /// Those that have no unit, in the ledger first.
    async fn fail(&self, activity: ActivityId, epoch: Option<Epoch>, strays: &mut Vec<Stray>) -> Result<(), Error> {
        if strays.is_empty() {
            return Ok(());
        }
        // Where the state was not read before, it was by now.
        let epoch = epoch.ok_or(Error::Unstable)?;
        let tickets: Vec<_> = strays.iter().map(|stray| stray.delivery.clone()).collect();
        for stray in &mut *strays {
            stray.may_have_failed = true;
        }
        let created_at = strays[0].created_at;
        let batch = self.batch_of(activity, created_at, &tickets);
        let settled = self.ledger.fail_of(epoch, batch).await?;
        let results = tickets.iter().map(|delivery| delivery.ticket).zip(settled.results);
        let mut failed = Vec::new();
        for (ticket, result) in results {
            if let TicketResult::Failed(reason) = result {
                failed.push((ticket, reason));
            } else {
                // Its state was built from a ledger that has its order: it would have been known.
                tracing::error!(%ticket, "the ledger has an order that the store does not know");
                strays.retain(|stray| stray.delivery.ticket != ticket);
            }
        }
        self.tell(activity, failed, strays).await
    }
}
