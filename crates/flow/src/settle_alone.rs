//! A ticket that the ledger could not write by itself: tried again, or parked.

use seckill_ledger::{Conflict, Error, Parking};
use seckill_queue::Verdict;
use seckill_sale::Delivery;

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

    /// Doubles from the first wait up to the longest.
    fn retry_wait_ms(&self, attempts: u32) -> i64 {
        let doublings = attempts.saturating_sub(1).min(20);
        let doubled = self.options.retry_wait_first_ms.saturating_mul(1 << doublings);
        doubled.min(self.options.retry_wait_max_ms)
    }
}
