//! A ticket that the ledger could not write by itself: tried again, or parked.

use seckill_ledger::{Conflict, Error, LedgerRecord, Parking, RecordState};
use seckill_queue::Verdict;
use seckill_sale::{Delivery, FailureReason, UnitTo};

use crate::Settle;
use crate::settle::Gathered;

impl Settle {
    /// A ticket that could not be written by itself: parked at once where its row is bad, else tried again with growing waits.
    pub(crate) async fn fail_alone(&self, delivery: Delivery, error: &Error, gathered: &mut Gathered) {
        let attempts = delivery.attempts + 1;
        let now = self.stock.now();
        let (ticket, request_id) = (delivery.ticket, delivery.request_id.clone());
        if !matches!(error, Error::Rejected(_)) && attempts < self.options.attempts_max {
            tracing::warn!(%error, %ticket, %request_id, attempts, "a ticket could not be settled; it is tried again");
            let not_before = now.plus(self.retry_wait_ms(attempts));
            gathered.pass.retried += 1;
            gathered
                .verdicts
                .tickets
                .push((ticket, Verdict::Retry { attempts, not_before }));
            gathered.open.push(delivery);
            return;
        }
        let reason = error.to_string();
        tracing::error!(reason, %ticket, %request_id, attempts, "a ticket cannot be settled; it is parked as a dead letter");
        let parking = Parking {
            delivery: Delivery {
                attempts,
                ..delivery.clone()
            },
            reason: reason.clone(),
        };
        let parked = match gathered.epoch {
            Some(epoch) => self.ledger.park_of(epoch, vec![parking], now).await,
            None => self.ledger.park(vec![parking], now).await,
        };
        match parked {
            Ok(()) => {
                gathered.pass.buried += 1;
                gathered.verdicts.tickets.push((ticket, Verdict::Bury { reason }));
            }
            Err(Error::Conflict(Conflict::OlderState { .. })) => gathered.refused.push(delivery),
            Err(error) => {
                tracing::warn!(%error, %ticket, "a dead letter could not be parked; the ticket waits");
                self.give_back(vec![delivery], gathered);
            }
        }
    }

    /// Where the unit of a failed ticket goes. One that the ledger had no unit for has none to give back; one that was discarded while
    /// the store still had it queued (a crash came between) went where the dead letter says.
    pub(crate) async fn unit_of_failed(
        &self,
        delivery: &Delivery,
        reason: FailureReason,
    ) -> Result<Option<UnitTo>, Error> {
        let ticket = delivery.ticket;
        match reason {
            // It fails for an earlier ticket of its buyer, which failed without a unit, of a lost state, after he had bought again: what this
            // one has is the store's to sell.
            FailureReason::StoreOversold => {
                let record = self.ledger.record(ticket.activity, &delivery.user).await?;
                let earlier = record.filter(|record| record.ticket != ticket);
                let has_failed = |record: &LedgerRecord| record.state == RecordState::Failed(reason);
                Ok(earlier.filter(has_failed).map(|_| UnitTo::Sale))
            }
            FailureReason::Discarded => Ok(self
                .ledger
                .dead_letter_of(ticket)
                .await?
                .and_then(|letter| letter.unit_to)),
        }
    }

    /// Doubles from the first wait up to the longest.
    fn retry_wait_ms(&self, attempts: u32) -> i64 {
        let doublings = attempts.saturating_sub(1).min(20);
        let doubled = self.options.retry_wait_first_ms.saturating_mul(1 << doublings);
        doubled.min(self.options.retry_wait_max_ms)
    }
}
