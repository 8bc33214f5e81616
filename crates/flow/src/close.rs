//! Resumes and closes a sale, and finishes what closing began: unsold units go back to the product once nothing waits any more. Pausing is
//! in `brake`.
//!
//! The ledger's row is first, then the store: when these return, no ticket is given out against the operator's word. Tickets accepted before
//! are settled all the same.

use seckill_ledger::{Conflict, Context};
use seckill_sale::{Activity, ActivityId, EpochMs, Hold, Status};

use crate::{Error, Operator};

/// How long after a rebuild nodes and workers may still offer tickets of the state before, in milliseconds: some times as long as they need.
const ADOPTED_WITHIN_MS: i64 = 5_000;

/// How far closing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Closing {
    /// Units that went back to the product by this call.
    pub returned: u64,
    /// Tickets that wait for their order; units go back when there are none.
    pub queued_tickets: u64,
    /// Units of dead letters; each keeps its own until it is retried or discarded.
    pub dead: u64,
    /// Whether all unsold units went back. Dead letters may be left.
    pub done: bool,
}

impl Operator {
    /// Goes on selling.
    ///
    /// # Errors
    /// [`Conflict::Closed`], or a layer that can't be reached; asking again is harmless.
    pub async fn resume(&self, id: ActivityId, context: Context) -> Result<Activity, Error> {
        self.write_hold_first(id).await?;
        self.set_status(id, Status::Running, None, context).await
    }

    /// Goes on selling at `at`, where the sale is paused.
    ///
    /// # Errors
    /// As [`Operator::resume`].
    pub async fn resume_at(&self, id: ActivityId, at: EpochMs, context: Context) -> Result<Activity, Error> {
        // Where the store does not answer it goes on holding the sale until it has the rules.
        self.write_hold_first(id).await?;
        self.set_status(id, Status::Paused, Some(at), context).await
    }

    /// Goes on selling where the pause still ends at `due`; false where the operator has said something else since.
    pub(crate) async fn resume_due(&self, id: ActivityId, due: EpochMs) -> Result<bool, Error> {
        let resumed = self.layers.ledger.resume_due(id, due, self.own_context()).await?;
        if resumed.is_some() {
            self.sync_terms(id).await?;
            tracing::info!(activity = %id, "goes on by its own date");
        }
        Ok(resumed.is_some())
    }

    /// Ends the sale for good. When this returns, no further ticket is given out; unsold units went back to the product, or do so
    /// when the tickets that wait are settled.
    ///
    /// # Errors
    /// A layer that can't be reached; asking again is harmless.
    pub async fn close(&self, id: ActivityId, context: Context) -> Result<Activity, Error> {
        let activity = self.set_status(id, Status::Closed, None, context).await?;
        if let Err(error) = self.finish_closing(id).await {
            tracing::warn!(activity = %id, %error, "unsold units could not be returned yet; the scheduler does it");
        }
        Ok(activity)
    }

    pub(crate) async fn set_status(
        &self,
        id: ActivityId,
        status: Status,
        resumes_at: Option<EpochMs>,
        context: Context,
    ) -> Result<Activity, Error> {
        // What another process holds the sale by from here on is no part of what ends.
        let ended = self.held(id).filter(|_| status != Status::Paused);
        let written = self.layers.ledger.set_status(id, status, resumes_at, context).await?;
        self.follow_status(written, ended).await
    }

    /// Has store and gate follow the row that the ledger has `written`. A pause that is `ended` by it ends for the gate at once, and in the
    /// store behind the rules, so that nobody is let in between.
    pub(crate) async fn follow_status(&self, written: Activity, ended: Option<Hold>) -> Result<Activity, Error> {
        let id = written.id;
        if let Some(hold) = ended {
            self.asked.end(id, hold);
        }
        let followed = self.follow_written(written).await;
        if let Some(hold) = ended {
            self.release_ended(id, hold).await;
        }
        self.tell_scheduler();
        let activity = followed?;
        tracing::info!(activity = %id, status = ?activity.status, "status set");
        Ok(activity)
    }

    /// Returns the unsold units of a closed sale as soon as no ticket waits. An activity that is not closed is left as it is.
    ///
    /// # Errors
    /// A layer that can't be reached; asking again is harmless: the ledger returns units once.
    pub async fn finish_closing(&self, id: ActivityId) -> Result<Closing, Error> {
        let activity = self.layers.ledger.activity(id).await?;
        if activity.status != Status::Closed {
            return Ok(Closing::default());
        }
        // Dead letters that the ledger has decided on come first: their units may belong to the sale.
        self.finish_dead_letters(id).await?;
        self.apply_movements(id).await?;
        let figures = self.layers.stock.figures(id).await?;
        let tally = self.layers.ledger.tally(id).await?;
        let mut closing = Closing {
            queued_tickets: figures.map_or(0, |figures| figures.queued_tickets),
            dead: tally.dead,
            ..Closing::default()
        };
        let (unsold, dead_agree) = match figures {
            Some(figures) => (figures.stock_left, figures.dead == tally.dead),
            // Never preheated, or its state is gone: nothing can be admitted, and nothing waits.
            None => (tally.available.saturating_sub(tally.dead), true),
        };
        if closing.queued_tickets != 0
            || !dead_agree
            || self.may_be_adopted(id, activity.epoch.is_some() && figures.is_none())
        {
            return Ok(closing);
        }
        closing.done = true;
        if unsold == 0 {
            return Ok(closing);
        }
        match self.layers.ledger.return_unsold(id, unsold, self.own_context()).await {
            Ok(movement) => {
                self.apply_movements(id).await?;
                closing.returned = movement.units;
                tracing::info!(activity = %id, units = movement.units, "unsold units went back to the product");
            }
            Err(seckill_ledger::Error::Conflict(Conflict::Unsettled)) => closing.done = false,
            Err(error) => return Err(error.into()),
        }
        Ok(closing)
    }

    /// Notes that a state was healed just now and may lack tickets, and forgets those that were long enough ago.
    pub(crate) fn note_rebuilt(&self, id: ActivityId) {
        let now = self.layers.stock.now();
        let mut rebuilt_at = self.rebuilt_at.lock();
        rebuilt_at.retain(|_, at| now < at.plus(ADOPTED_WITHIN_MS));
        rebuilt_at.insert(id, now);
    }

    /// Whether tickets of a lost state may be on their way to the one that took its place, or that will.
    fn may_be_adopted(&self, id: ActivityId, is_lost: bool) -> bool {
        if !self.layers.queue.loses_states() {
            return false;
        }
        let rebuilt_at = self.rebuilt_at.lock().get(&id).copied();
        is_lost || rebuilt_at.is_some_and(|at| self.layers.stock.now() < at.plus(ADOPTED_WITHIN_MS))
    }

    /// Drops the store's state of a closed sale in which everything is final, returned and balanced; false where something is not.
    ///
    /// # Errors
    /// A layer that can't be reached.
    pub async fn forget(&self, id: ActivityId) -> Result<bool, Error> {
        let Some(figures) = self.layers.stock.figures(id).await? else {
            return Ok(false);
        };
        let waits = figures.queued_tickets != 0 || figures.dead != 0 || figures.stock_left != 0;
        if waits || self.layers.ledger.activity(id).await?.status != Status::Closed {
            return Ok(false);
        }
        // The state is evidence as long as the books don't balance.
        if self.audit(id).await?.balanced != Some(true) {
            return Ok(false);
        }
        self.layers.stock.forget(id).await?;
        tracing::info!(activity = %id, "the store has forgotten a closed sale");
        Ok(true)
    }
}
