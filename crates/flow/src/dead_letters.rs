//! Dead letters: shown, retried, discarded by an operator or by the policy after the end. The ledger decides, the queue follows.
//!
//! A crash between the two is repaired by [`Operator::finish_dead_letters`]: it looks at the store's dead letters alone, since one that the
//! ledger has parked while the store still queues it is delivered again anyway.

use std::iter;

use seckill_ledger::{Conflict, Context, DeadLetter, DeadLetterId, DeadLetterState, Page, PageRequest, RecordState};
use seckill_queue::{Verdict, Verdicts};
use seckill_sale::{Activity, ActivityId, Buyer, Conclusion, EpochMs, FailureReason, Status, Ticket, UserId};
use seckill_stock::Condition;

use crate::{Error, Operator};

/// What becomes of dead letters after the end of their sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadLettersAfterEnd {
    /// An operator decides on each.
    Keep,
    /// They fail this long after the end, and their units go back to the product.
    DiscardAfter {
        /// Milliseconds after the end.
        wait_ms: i64,
    },
}

/// What is to be done in the queue.
enum Step {
    Revive,
    Conclude(Conclusion),
    Leave,
}

impl Operator {
    /// Dead letters, newest first.
    ///
    /// # Errors
    /// The ledger could not be read.
    pub async fn dead_letters(&self, page: PageRequest) -> Result<Page<DeadLetter>, Error> {
        Ok(self.layers.ledger.dead_letters(page).await?)
    }

    /// Puts a dead letter back into the queue. Twice is once.
    ///
    /// # Errors
    /// [`Conflict::Resolved`] where it was discarded; [`Error::NoState`]; a layer that can't be reached before the ledger has decided.
    pub async fn retry_dead_letter(&self, id: DeadLetterId, context: Context) -> Result<DeadLetter, Error> {
        let letter = self.layers.ledger.dead_letter(id).await?;
        if !self.has_state(letter.ticket.activity) {
            // Without a queue nobody would ever settle it.
            return Err(Error::NoState);
        }
        // The ledger forgets the ticket then: the store must have it.
        if !matches!(
            self.layers.stock.condition(letter.ticket.activity).await?,
            Condition::Sound { .. }
        ) {
            return Err(Error::Unstable);
        }
        let letter = self.layers.ledger.retry_dead_letter(id, context).await?;
        let revived = self.revive_retried(&letter).await;
        self.done_or_later(&letter, revived);
        Ok(letter)
    }

    /// A letter that was retried long ago may have a younger one of the same ticket: only the newest one speaks for it.
    async fn revive_retried(&self, letter: &DeadLetter) -> Result<(), Error> {
        let newest = self.layers.ledger.dead_letter_of(letter.ticket).await?;
        if newest.is_none_or(|newest| newest.id == letter.id) {
            self.layers.queue.revive(letter.ticket).await?;
        }
        Ok(())
    }

    /// Fails a parked ticket for good; its units go back once. Twice is once.
    ///
    /// # Errors
    /// [`Conflict::Resolved`] where it was retried; a ledger that can't be reached.
    pub async fn discard_dead_letter(
        &self,
        id: DeadLetterId,
        reason: String,
        context: Context,
    ) -> Result<DeadLetter, Error> {
        let letter = self.layers.ledger.discard_dead_letter(id, reason, context).await?;
        let concluded = self.conclude(letter.ticket, &letter.user, discarded(&letter)).await;
        self.done_or_later(&letter, concluded);
        Ok(letter)
    }

    /// The queue's part, once the ledger has decided. A failure is not the caller's: [`Operator::finish_dead_letters`] does it.
    fn done_or_later(&self, letter: &DeadLetter, done: Result<(), Error>) {
        if let Err(error) = done {
            tracing::warn!(ticket = %letter.ticket, %error, "the queue hears later what the ledger decided; the scheduler tells it");
            self.tell_scheduler();
        }
    }

    /// Makes a ticket final in the queue, as the ledger has it, and tells who waits.
    pub(crate) async fn conclude(&self, ticket: Ticket, user: &UserId, conclusion: Conclusion) -> Result<(), Error> {
        if !self.has_state(ticket.activity) {
            return Ok(());
        }
        let verdicts = Verdicts {
            tickets: vec![(ticket, Verdict::Conclude(conclusion))],
            settled_batch: 0,
        };
        self.layers.queue.record(verdicts).await?;
        self.layers.results.publish(iter::once((ticket.activity, user)));
        tracing::info!(%ticket, ?conclusion, "a ticket was made final");
        Ok(())
    }

    /// Does in the queue what the ledger has decided on the store's dead letters; gives how many were brought in line.
    ///
    /// # Errors
    /// A layer that can't be reached; asking again is harmless.
    pub async fn finish_dead_letters(&self, id: ActivityId) -> Result<u64, Error> {
        let Some(figures) = self.layers.stock.figures(id).await? else {
            return Ok(0);
        };
        if figures.dead == 0 {
            return Ok(0);
        }
        let mut finished = 0;
        for (buyer, _) in self.layers.queue.dead_letters(id).await? {
            finished += u64::from(self.finish_dead_letter(&buyer).await?);
        }
        Ok(finished)
    }

    /// Brings one dead letter of the store in line; false where it is.
    pub(crate) async fn finish_dead_letter(&self, buyer: &Buyer) -> Result<bool, Error> {
        match self.step(buyer).await? {
            Step::Leave => Ok(false),
            Step::Revive => {
                self.layers.queue.revive(buyer.ticket).await?;
                Ok(true)
            }
            Step::Conclude(conclusion) => {
                self.conclude(buyer.ticket, &buyer.user, conclusion).await?;
                Ok(true)
            }
        }
    }

    async fn step(&self, buyer: &Buyer) -> Result<Step, Error> {
        let letter = self.layers.ledger.dead_letter_of(buyer.ticket).await?;
        match letter {
            Some(letter) if letter.state == DeadLetterState::Parked => return Ok(Step::Leave),
            Some(letter) if letter.state == DeadLetterState::Discarded => {
                return Ok(Step::Conclude(discarded(&letter)));
            }
            // Retried, or never parked in this ledger: it was restored from an older copy.
            _ => {}
        }
        let record = self.layers.ledger.record(buyer.ticket.activity, &buyer.user).await?;
        let record = record.filter(|record| record.ticket == buyer.ticket);
        Ok(match record.map(|record| record.state) {
            Some(RecordState::Parked) => Step::Leave,
            Some(RecordState::Succeeded) => Step::Conclude(Conclusion::Succeeded),
            Some(RecordState::Failed(reason)) => Step::Conclude(Conclusion::Failed { reason, unit_to: None }),
            None => Step::Revive,
        })
    }

    /// Discards the dead letters of an ended sale where the settings say so and the wait is over; gives how many.
    ///
    /// # Errors
    /// A layer that can't be reached.
    pub async fn discard_after_end(&self, activity: &Activity, now: EpochMs) -> Result<u64, Error> {
        let DeadLettersAfterEnd::DiscardAfter { wait_ms } = self.settings.dead_letters_after_end else {
            return Ok(0);
        };
        let after_end = activity.window.ends_at.plus(wait_ms) <= now;
        if !after_end && activity.status != Status::Closed {
            return Ok(0);
        }
        let mut count = 0;
        for (buyer, _) in self.layers.queue.dead_letters(activity.id).await? {
            let Some(letter) = self.layers.ledger.dead_letter_of(buyer.ticket).await? else {
                continue;
            };
            // When a sale was closed before its end nobody wrote down; the letter's own age stands for it.
            let due = after_end || letter.parked_at.plus(wait_ms) <= now;
            if letter.state != DeadLetterState::Parked || !due {
                continue;
            }
            let reason = "not resolved in time after the end".to_owned();
            match self.discard_dead_letter(letter.id, reason, self.own_context()).await {
                Ok(_) => count += 1,
                Err(Error::Ledger(seckill_ledger::Error::Conflict(Conflict::Resolved))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }
}

/// How a discarded letter ends in the store: its units go where the ledger has put them.
pub(crate) const fn discarded(letter: &DeadLetter) -> Conclusion {
    Conclusion::Failed {
        reason: FailureReason::Discarded,
        unit_to: letter.unit_to,
    }
}
