//! A pause on its way from the store to the ledger: what is in force meanwhile, and how it is written and released.
//!
//! A store whose disk hangs is handed a hold and answers later, or never says that it had no space for it. Until it has, or the ledger has
//! the pause and the store the ledger's rules, this process goes by what it was asked for.

use seckill_ledger::Context;
use seckill_sale::{Activity, ActivityId, Hold, Status};

use crate::{Error, Operator};

/// Who pauses, for a pause that the ledger hears of later: nobody else holds a sale.
const ACTOR: &str = "admin";

impl Operator {
    /// Whether the store holds the sale by a pause that the ledger may not have yet. Costs no IO.
    #[must_use]
    pub fn is_pending(&self, id: ActivityId) -> bool {
        self.held(id).is_some()
    }

    /// How the store holds the sale, or is to hold it as soon as it answers.
    pub(crate) fn held(&self, id: ActivityId) -> Option<Hold> {
        self.asked.in_force(id, self.layers.stock.standing(id))
    }

    /// Writes pauses that neither store nor ledger may have: this process alone keeps buyers out.
    ///
    /// # Errors
    /// Of the last of them that could not be written; each is tried.
    pub async fn write_unanswered(&self) -> Result<(), Error> {
        let mut outcome = Ok(());
        for id in self.asked.unanswered() {
            if let Err(error) = self.write_hold(id, None, None).await {
                outcome = Err(error);
            }
        }
        outcome
    }

    /// The activity as it is in force: a row of the ledger that does not know of a pause yet is shown as paused.
    #[must_use]
    pub fn in_force(&self, activity: Activity) -> Activity {
        let Some(hold) = self.held(activity.id) else {
            return activity;
        };
        match activity.status {
            // The row may have another date since.
            Status::Paused if self.asked.is_in_ledger(activity.id, hold) => activity,
            Status::Running | Status::Paused => paused_by(hold, activity),
            _ => activity,
        }
    }

    /// Writes the pause that is in force into the ledger and, once the store has the ledger's rules, releases it; none where nothing is
    /// held. A pause that neither of them took is told again. One that the ledger refuses for good, such as that of a closed sale, is
    /// released, too, or gives way to `before`, an earlier one that the ledger has not got yet: in one step, so that the sale is not let go
    /// in between.
    pub(crate) async fn write_hold(
        &self,
        id: ActivityId,
        context: Option<Context>,
        before: Option<Hold>,
    ) -> Result<Option<Activity>, Error> {
        let _one_at_a_time = self.holding.lock().await;
        let Some(hold) = self.held(id) else {
            return Ok(None);
        };
        if (context.is_some() || !self.asked.is_in_ledger(id, hold))
            && let Err(error) = self.tell_ledger(id, hold, context).await
        {
            if is_refusal(&error) {
                tracing::warn!(activity = %id, %error, "the ledger refuses the pause that the store holds");
                if before.is_none() {
                    self.asked.end(id, hold);
                }
                self.let_go(id, hold, before).await?;
                self.sync_terms(id).await?;
            } else {
                self.tell_store_again(id, hold).await;
            }
            return Err(error);
        }
        let activity = self.sync_terms(id).await?;
        // A request of long ago, repeated: what it did was undone since, and it does nothing now. The earlier pause stands.
        let before = before.filter(|_| activity.status != Status::Paused);
        self.let_go(id, hold, before).await?;
        self.show(&activity).await;
        self.tell_scheduler();
        tracing::info!(activity = %id, status = ?activity.status, "the ledger was told");
        Ok(Some(self.in_force(activity)))
    }

    /// Who changes a paused sale writes what is held first: the books tell both. Where the store does not answer, the ledger is enough.
    pub(crate) async fn write_hold_first(&self, id: ActivityId) -> Result<(), Error> {
        let written = self.write_hold(id, None, None).await;
        let is_in_ledger = || self.held(id).is_none_or(|hold| self.asked.is_in_ledger(id, hold));
        match written {
            Err(Error::Stock(error)) if is_in_ledger() => {
                tracing::warn!(activity = %id, %error, "the store hears of the pause and of what follows later");
                Ok(())
            }
            written => written.map(drop),
        }
    }

    async fn tell_ledger(&self, id: ActivityId, hold: Hold, context: Option<Context>) -> Result<(), Error> {
        let ledger = &self.layers.ledger;
        if let Some(context) = context {
            ledger.set_status(id, Status::Paused, hold.resumes_at, context).await?;
        } else {
            let asked = self.asked.context(id, hold);
            let context = Context {
                // Rows of the operators' log stand in the order of their moments.
                now: self.layers.stock.now(),
                idempotency: asked.as_ref().and_then(|context| context.idempotency.clone()),
                actor: asked.map_or_else(|| ACTOR.to_owned(), |context| context.actor),
            };
            // It may have waited for long: others may have written it and gone on meanwhile.
            ledger.pause_held(id, hold, context).await?;
        }
        self.asked.set_in_ledger(id, hold);
        Ok(())
    }

    /// Tells the store again of a hold that it may have had no space for, which nobody heard. Figures come behind everything that was handed
    /// over, so a store that hangs is told nothing: nothing piles up there.
    async fn tell_store_again(&self, id: ActivityId, hold: Hold) {
        if !self.asked.is_unanswered(id, hold) || self.layers.stock.figures(id).await.is_err() {
            return;
        }
        if self.layers.stock.held(id) != Some(hold)
            && let Err(error) = self.layers.stock.hold(id, hold).await
        {
            tracing::warn!(activity = %id, %error, "neither store nor ledger has the pause yet; this process lets nobody in");
        }
    }

    /// Ends the hold, or has it give way to the one before it.
    async fn let_go(&self, id: ActivityId, hold: Hold, before: Option<Hold>) -> Result<(), Error> {
        match before {
            Some(before) => {
                self.layers.stock.hold(id, before).await?;
                self.asked.forget(id, hold);
                Ok(())
            }
            None => self.release(id, hold).await,
        }
    }

    /// Ends the hold in a store that answers: it has done what it was handed before, and where it had no space for this hold, an earlier
    /// one is left.
    async fn release(&self, id: ActivityId, hold: Hold) -> Result<(), Error> {
        let stock = &self.layers.stock;
        stock.release(id, hold).await?;
        // What is left is an earlier one, or another process has asked for it since.
        let is_earlier = |left: &Hold| left.held_at <= hold.held_at && self.asked.is_last(id, hold);
        if let Some(left) = stock.held(id).filter(is_earlier) {
            stock.release(id, left).await?;
        }
        self.asked.set_over(id, hold);
        Ok(())
    }

    /// Ends a pause that is over. A store that does not answer hears it behind the hold, and the scheduler repeats it.
    pub(crate) async fn release_ended(&self, id: ActivityId, hold: Hold) {
        if let Err(error) = self.release(id, hold).await {
            tracing::warn!(activity = %id, %error, "a pause that is over ends in the store when it answers");
        }
    }

    /// Repeats that a pause is over to a store that may not have heard so, or has an earlier state, once it answers: nothing piles up in one
    /// that hangs.
    pub(crate) async fn release_again(&self, id: ActivityId) {
        if let Some(hold) = self.asked.ended(id, self.layers.stock.held(id))
            && self.layers.stock.figures(id).await.is_ok()
        {
            self.release_ended(id, hold).await;
        }
    }
}

/// The activity as the hold has it.
pub(crate) fn paused_by(hold: Hold, activity: Activity) -> Activity {
    Activity {
        status: Status::Paused,
        resumes_at: hold.resumes_at,
        ..activity
    }
}

/// Whether the ledger will never take it.
pub(crate) fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Ledger(error) if !error.is_outage())
}
