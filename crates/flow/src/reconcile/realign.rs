//! Sets the units left by the ledger and queues lost tickets again, behind a fence: the store lets nobody in between counting and writing.

use seckill_ledger::{DeadLetterState, OpeningRow};
use seckill_sale::{ActivityId, Buyer, Figures, Status, Terms, UserId};
use seckill_stock::Rebase;

use crate::audit::Reading;
use crate::{Error, Operator};

/// What may happen to the units left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftMay {
    /// They may only fall.
    Fall,
    /// They may also rise: an operator recovers.
    Change,
}

impl Operator {
    /// Queues these buyers again under a new epoch and sets the units left by the ledger, while the store lets nobody in.
    pub(super) async fn realign(&self, id: ActivityId, requeue: Vec<&Buyer>, left_may: LeftMay) -> Result<(), Error> {
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

    /// Opens what broken calls of this process left fenced, unless another call is at it. The scheduler does so, too, where it is this process
    /// that schedules; to be called now and then.
    ///
    /// # Errors
    /// As [`Operator::sync_terms`].
    pub async fn open_fences(&self) -> Result<(), Error> {
        let left: Vec<_> = self.fenced.lock().iter().copied().collect();
        for id in left {
            // A realignment holds it from its fence to the end of it.
            if self.terms.try_lock().is_ok() {
                let _opened = self.sync_terms(id).await?;
            }
        }
        Ok(())
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
        let row = self.epoch_past(id, figures.epoch).await?;
        let reading = self.reading(id).await?.ok_or(Error::NoState)?;
        let users: Vec<UserId> = requeue.iter().map(|buyer| buyer.user.clone()).collect();
        let units: u64 = requeue.iter().map(|buyer| buyer.quantity.get()).sum();
        let counted = reading.tally.available == row.available && self.is_whole(id, &reading).await?;
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
            // Another process may open the fence: what is sold behind it stays sold.
            may_rise: left_may == LeftMay::Change,
            requeue: users,
        };
        Ok(self.layers.stock.rebase(rebase).await?)
    }
}

/// What the ledger has, less what is promised: waiting tickets, dead ones, and `units` that are queued again.
const fn left_by(row: &OpeningRow, figures: &Figures, units: u64) -> u64 {
    row.available.saturating_sub(figures.queued + figures.dead + units)
}
