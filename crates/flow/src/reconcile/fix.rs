//! Puts differences right: finishes tickets, queues them again, applies movements, sets the units left.
//!
//! Whatever touches the units left as a number stands behind a fence: the store lets nobody in between counting and writing.

use std::mem;

use seckill_ledger::{DeadLetterState, OpeningRow, Parking, RecordState};
use seckill_queue::{Verdict, Verdicts};
use seckill_sale::{ActivityId, Buyer, Conclusion, Delivery, Figures, RequestId, Status, Terms, TicketState, UserId};
use seckill_stock::Rebase;

use super::scan::{Found, Suspect, unapplied};
use super::{Difference, DifferenceKind};
use crate::audit::Reading;
use crate::dead_letters::discarded;
use crate::{Error, Operator};

/// What may happen to the units left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftMay {
    /// They may only fall.
    Fall,
    /// They may also rise: an operator recovers.
    Change,
}

/// Epochs counted up at the most until the store's own is passed: a restored ledger is behind by the rebuilds since its copy.
const EPOCHS_MAX: u32 = 1_000;

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

    /// Queues these buyers again under a new epoch and sets the units left by the ledger, while the store lets nobody in.
    async fn realign(&self, id: ActivityId, requeue: Vec<&Buyer>, left_may: LeftMay) -> Result<(), Error> {
        for buyer in &requeue {
            self.unpark(buyer).await?;
        }
        let _one_at_a_time = self.terms.lock().await;
        let terms = self.layers.ledger.activity(id).await?.terms();
        if terms.status == Status::Running {
            // Known to the scheduler before the store is: whatever ends this call halfway, the sale goes on.
            self.fenced.lock().insert(id);
            let fence = Terms {
                status: Status::Paused,
                ..terms
            };
            self.layers.stock.change(fence).await?;
        }
        let outcome = self.rebase(id, &requeue, left_may).await;
        self.layers.stock.change(terms).await?;
        self.fenced.lock().remove(&id);
        outcome
    }

    /// A ticket that succeeded, but is parked in a ledger restored from an older copy: its letter is taken back first.
    async fn unpark(&self, buyer: &Buyer) -> Result<(), Error> {
        if let Some(letter) = self.layers.ledger.dead_letter_of(buyer.ticket).await?
            && letter.state == DeadLetterState::Parked
        {
            self.layers
                .ledger
                .retry_dead_letter(letter.id, self.own_context())
                .await?;
        }
        Ok(())
    }

    async fn rebase(&self, id: ActivityId, requeue: &[&Buyer], left_may: LeftMay) -> Result<(), Error> {
        let figures = self.layers.stock.figures(id).await?.ok_or(Error::NoState)?;
        let row = self.epoch_past(id, &figures).await?;
        let reading = self.reading(id).await?.ok_or(Error::NoState)?;
        let users: Vec<UserId> = requeue.iter().map(|buyer| buyer.user.clone()).collect();
        let units: u64 = requeue.iter().map(|buyer| buyer.quantity.get()).sum();
        let counted = reading.is_stable() && reading.tally.available == row.available;
        let Reading { before, .. } = reading;
        let (left, applied_movement) = match (left_may, counted) {
            (LeftMay::Change, false) => return Err(Error::Unstable),
            // Workers are at it: the units left stay as they are. They can't be too low by that, and the next run counts them.
            (LeftMay::Fall, false) => (before.stock_left, before.applied_movement),
            (LeftMay::Fall, true) => (before.stock_left.min(left_by(&row, &before, units)), row.last_movement),
            (LeftMay::Change, true) => (left_by(&row, &before, units), row.last_movement),
        };
        tracing::warn!(
            activity = %id, epoch = %row.epoch, left, left_before = before.stock_left, tickets = users.len(),
            "the store is brought in line with the ledger"
        );
        let rebase = Rebase {
            activity: id,
            epoch: row.epoch,
            left,
            applied_movement,
            requeue: users,
        };
        Ok(self.layers.stock.rebase(rebase).await?)
    }

    /// Counts the ledger's epoch up until it is past the store's.
    async fn epoch_past(&self, id: ActivityId, figures: &Figures) -> Result<OpeningRow, Error> {
        for _ in 0..EPOCHS_MAX {
            let row = self.layers.ledger.begin_opening(id, self.own_context()).await?;
            if figures.epoch < row.epoch {
                return Ok(row);
            }
        }
        Err(Error::Unstable)
    }
}

fn fixed(difference: Difference, fixed: bool) -> Difference {
    Difference { fixed, ..difference }
}

/// What the ledger has, less what is promised: waiting tickets, dead ones, and `units` that are queued again.
const fn left_by(row: &OpeningRow, figures: &Figures, units: u64) -> u64 {
    row.available.saturating_sub(figures.queued + figures.dead + units)
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
