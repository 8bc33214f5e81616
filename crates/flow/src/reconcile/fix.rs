//! Puts differences right: finishes tickets, applies movements, writes lost failures again. What changes the units left is in `realign`.

use std::mem;

use seckill_ledger::{DeadLetterState, Parking, RecordState};
use seckill_queue::{Verdict, Verdicts};
use seckill_sale::{ActivityId, Buyer, Conclusion, Delivery, RequestId, TicketState};

use super::found::{Found, Suspect, unapplied};
use super::realign::LeftMay;
use super::{Difference, DifferenceKind};
use crate::dead_letters::discarded;
use crate::{Error, Operator};

impl Operator {
    /// Puts right what can be; gives every difference with whether it was.
    pub(crate) async fn fix(&self, id: ActivityId, found: Found, left_may: LeftMay) -> Result<Vec<Difference>, Error> {
        let mut differences = Vec::new();
        if let Some(difference) = unapplied(found.movements) {
            self.apply_movements(id).await?;
            differences.push(fixed(difference, true));
        }
        let mut open = Found {
            truncated: found.truncated,
            ..Found::default()
        };
        let is_lost = |suspect: &Suspect| suspect.kind == DifferenceKind::RecordMissing;
        let (lost, others): (Vec<_>, Vec<_>) = found.suspects.into_iter().partition(is_lost);
        for suspect in others {
            let done = self.finish(&suspect).await?;
            differences.push(fixed(suspect.difference(), done));
            if !done {
                open.suspects.push(suspect);
            }
        }
        open.suspects.extend(lost);
        open.left = self.left(id, &open).await?;
        let left_moves = open.left.is_some_and(|left| match left_may {
            LeftMay::Fall => left.ledger < left.store,
            LeftMay::Change => left.ledger != left.store,
        });
        let requeue: Vec<_> = mem::take(&mut open.suspects).into_iter().filter(is_lost).collect();
        if left_moves || !requeue.is_empty() {
            let buyers = requeue.iter().filter_map(|suspect| suspect.buyer.as_ref()).collect();
            // Where not every lost ticket is known, their units are not either: they must not be sold again.
            let left_may = if open.truncated { LeftMay::Fall } else { left_may };
            self.realign(id, buyers, left_may).await?;
        }
        differences.extend(requeue.iter().map(|suspect| fixed(suspect.difference(), true)));
        let left = open.left.and_then(|left| left.difference());
        differences.extend(left.map(|difference| fixed(difference, left_moves)));
        Ok(differences)
    }

    /// Brings one ticket in line where its units left stay what they are; false where that needs a person.
    async fn finish(&self, suspect: &Suspect) -> Result<bool, Error> {
        let Some(buyer) = &suspect.buyer else {
            return Ok(false);
        };
        match (suspect.kind, &suspect.record) {
            (DifferenceKind::Unfinished, Some(record)) => {
                let Some(conclusion) = self.conclusion(buyer, record.state).await? else {
                    return Ok(false);
                };
                self.conclude(buyer.ticket, &buyer.user, conclusion).await?;
                Ok(true)
            }
            (DifferenceKind::ParkedInLedgerOnly, Some(record)) => {
                let reason = record.parked_reason.clone();
                let verdicts = Verdicts {
                    tickets: vec![(buyer.ticket, Verdict::Bury { reason })],
                    settled_batch: 0,
                };
                self.layers.queue.record(verdicts).await?;
                Ok(true)
            }
            (DifferenceKind::DeadInStoreOnly, _) => self.finish_dead_letter(buyer).await,
            (DifferenceKind::FailureMissing, _) => self.write_failure(buyer).await,
            _ => Ok(false),
        }
    }

    /// How the ledger's final result reads in the store.
    async fn conclusion(&self, buyer: &Buyer, state: RecordState) -> Result<Option<Conclusion>, Error> {
        Ok(match state {
            RecordState::Parked => None,
            RecordState::Succeeded => Some(Conclusion::Succeeded),
            RecordState::Failed(reason) => {
                let letter = self.layers.ledger.dead_letter_of(buyer.ticket).await?;
                let letter = letter.filter(|letter| letter.state == DeadLetterState::Discarded);
                let without_letter = Conclusion::Failed { reason, unit_to: None };
                Some(letter.map_or(without_letter, |letter| discarded(&letter)))
            }
        })
    }

    /// Writes into the ledger that a ticket was discarded, which the buyer was told and the ledger has lost.
    async fn write_failure(&self, buyer: &Buyer) -> Result<bool, Error> {
        const REASON: &str = "discarded before; the ledger had lost it";
        let parking = Parking {
            delivery: delivery(buyer),
            reason: REASON.to_owned(),
        };
        let context = self.own_context();
        self.layers.ledger.park(vec![parking], context.now).await?;
        let Some(letter) = self.layers.ledger.dead_letter_of(buyer.ticket).await? else {
            return Ok(false);
        };
        if letter.state == DeadLetterState::Retried {
            return Ok(false);
        }
        self.layers
            .ledger
            .discard_dead_letter(letter.id, REASON.to_owned(), context)
            .await?;
        Ok(true)
    }
}

fn fixed(difference: Difference, fixed: bool) -> Difference {
    Difference { fixed, ..difference }
}

fn delivery(buyer: &Buyer) -> Delivery {
    debug_assert!(
        matches!(buyer.state, TicketState::Failed(_)),
        "only lost failures are written again"
    );
    Delivery {
        ticket: buyer.ticket,
        user: buyer.user.clone(),
        quantity: buyer.quantity,
        key: buyer.key,
        accepted_at: buyer.accepted_at,
        request_id: RequestId::from_bits(buyer.ticket.sequence),
        attempts: 0,
        deliveries: 1,
    }
}
