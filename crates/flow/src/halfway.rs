//! Whether a sale stands between ledger and store: the ledger has committed what the store has not heard of yet. A crash leaves it so until
//! the tickets are delivered again; an audit that is unbalanced then says nothing.

use std::collections::HashMap;

use seckill_ledger::{DeadLetterState, PageRequest};
use seckill_sale::{ActivityId, Buyer, Figures, TicketState};

use crate::audit::Reading;
use crate::reconcile::{DifferenceKind, compare};
use crate::{Error, Operator};

impl Operator {
    /// Whether a reading shows both books as of one moment: nothing moved, and nothing stands between ledger and store.
    pub(crate) async fn is_whole(&self, id: ActivityId, reading: &Reading) -> Result<bool, Error> {
        if !reading.is_stable() || self.is_halfway(id, &reading.before).await? {
            return Ok(false);
        }
        self.has_stayed(id, &reading.before).await
    }

    /// Whether the store is still as it was read: a ticket that was halfway then may have arrived before it was looked for.
    pub(crate) async fn has_stayed(&self, id: ActivityId, figures: &Figures) -> Result<bool, Error> {
        let now = self.layers.stock.figures(id).await?;
        Ok(now.is_some_and(|now| now.revision == figures.revision))
    }

    /// Whether any ticket that waits or is dead in the store has gone further in the ledger. Reads every such ticket, so it is for books
    /// that do not balance.
    pub(crate) async fn is_halfway(&self, id: ActivityId, figures: &Figures) -> Result<bool, Error> {
        if figures.queued_tickets == 0 && figures.dead_tickets == 0 {
            return Ok(false);
        }
        let mut page = 0;
        while let Some(mut buyers) = self.layers.stock.buyers_page(id, page).await? {
            buyers.retain(|buyer| matches!(buyer.state, TicketState::Queued | TicketState::Dead));
            for part in buyers.chunks(PageRequest::LIMIT_MAX as usize) {
                if self.is_any_halfway(id, part).await? {
                    return Ok(true);
                }
            }
            page += 1;
        }
        Ok(false)
    }

    async fn is_any_halfway(&self, id: ActivityId, buyers: &[Buyer]) -> Result<bool, Error> {
        let names = buyers.iter().map(|buyer| buyer.user.clone()).collect();
        let records = self.layers.ledger.records_of(id, names).await?;
        let records: HashMap<_, _> = records.iter().map(|record| (&record.user, record)).collect();
        for buyer in buyers {
            match compare(Some(buyer), records.get(&buyer.user).copied()) {
                Some(DifferenceKind::Unfinished | DifferenceKind::ParkedInLedgerOnly) => return Ok(true),
                Some(DifferenceKind::DeadInStoreOnly) if self.is_retried(buyer).await? => return Ok(true),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Whether the ledger has sent a dead letter back to the queue.
    async fn is_retried(&self, buyer: &Buyer) -> Result<bool, Error> {
        let letter = self.layers.ledger.dead_letter_of(buyer.ticket).await?;
        Ok(letter.is_some_and(|letter| letter.state == DeadLetterState::Retried))
    }
}
