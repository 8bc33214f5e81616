//! The emergency brake: a pause holds in the store before the ledger is asked, so it works while the database does not.
//!
//! ```text
//! pause ─▶ hold in the store, durable ─▶ ledger paused ─▶ rules into the store ─▶ hold released
//!                │                           └─ cannot be written: the answer says so, and the scheduler writes it
//!                │                           └─ a crash anywhere: the store still holds, and the scheduler writes it
//!                └─ not answered: this node lets nobody in, and the ledger is asked at once
//! ```
//! A hold stands beside the rules, so no reading of the ledger lifts it. Whoever resumes writes what is held first.
//!
//! Which idempotency keys were used is the ledger's to know; a hold has none. So a request of long ago that is repeated while the ledger
//! can't be written holds the sale: not to hold it, where it is a new one, would be worse. This process remembers under which key it was
//! asked, and lets the sale go as soon as the ledger says that this was done before; after a restart meanwhile the sale stays paused.

use seckill_ledger::{Context, Error as Ledger};
use seckill_sale::{Activity, ActivityId, EpochMs, Hold, Status};
use seckill_stock as stock;

use crate::{Error, Operator};

/// Who pauses, for a pause that the ledger hears of later: nobody else holds a sale.
const ACTOR: &str = "admin";

impl Operator {
    /// Lets nobody in until resumed, or until `resumes_at`. When this returns, no further ticket is given out, also where the ledger could
    /// not be written: [`Operator::is_pending`] tells, and the scheduler writes it as soon as it can.
    ///
    /// # Errors
    /// [`seckill_ledger::Conflict::Closed`]; a store that can't be reached; and, where the store has no state and so admits nobody, a ledger
    /// that can't be. [`seckill_stock::Error::OutcomeUnknown`] where the store does not answer: this node lets nobody in from here on, and
    /// purchases that were on their way may still be accepted. Asking again is harmless.
    pub async fn pause(
        &self,
        id: ActivityId,
        resumes_at: Option<EpochMs>,
        context: Context,
    ) -> Result<Activity, Error> {
        let before = self.layers.stock.held(id);
        let hold = Hold {
            held_at: context.now,
            resumes_at,
        };
        if !self.may_be_held(id) {
            return self.set_status(id, Status::Paused, resumes_at, context).await;
        }
        self.asked.put(id, hold, &context);
        if let Err(error) = self.layers.stock.hold(id, hold).await {
            return self.pause_without_store(id, (hold, before), error, context).await;
        }
        self.show_again(id).await;
        tracing::info!(activity = %id, "held");
        match self.write_hold(id, Some(context.clone()), before).await {
            Ok(Some(activity)) => Ok(activity),
            // Somebody else has written it meanwhile; the operator's key belongs into the ledger all the same.
            Ok(None) => self.set_status(id, Status::Paused, resumes_at, context).await,
            Err(error) if is_refusal(&error) => Err(error),
            Err(error) if self.is_pending(id) => self.held_without_ledger(id, error).await,
            Err(error) => Err(error),
        }
    }

    /// Whether the store holds the sale by a pause that the ledger may not have yet. Costs no IO.
    #[must_use]
    pub fn is_pending(&self, id: ActivityId) -> bool {
        self.held(id).is_some()
    }

    /// How the store holds the sale, or is to hold it as soon as it answers.
    fn held(&self, id: ActivityId) -> Option<Hold> {
        let held = self.layers.stock.held(id);
        if held.is_some() {
            self.asked.confirm(id);
        }
        held.or_else(|| self.asked.unconfirmed(id))
    }

    /// The activity as it is in force: a row of the ledger that does not know of a pause yet is shown as paused.
    #[must_use]
    pub fn in_force(&self, activity: Activity) -> Activity {
        match self.held(activity.id) {
            Some(hold) if matches!(activity.status, Status::Running | Status::Paused) => Activity {
                status: Status::Paused,
                resumes_at: hold.resumes_at,
                ..activity
            },
            _ => activity,
        }
    }

    /// Writes the pause that the store holds into the ledger and releases it; none where nothing is held. A pause that the ledger refuses
    /// for good, such as that of a closed sale, is released, too, or gives way to `before`, an earlier one that the ledger has not got yet:
    /// in one step, so that the sale is not let go in between.
    pub(crate) async fn write_hold(
        &self,
        id: ActivityId,
        context: Option<Context>,
        before: Option<Hold>,
    ) -> Result<Option<Activity>, Error> {
        let _one_at_a_time = self.holding.lock().await;
        let Some(hold) = self.layers.stock.held(id) else {
            return Ok(None);
        };
        let context = context
            .or_else(|| self.asked.context(id, hold))
            .unwrap_or_else(|| Context {
                actor: ACTOR.to_owned(),
                now: hold.held_at,
                idempotency: None,
            });
        let written = self
            .layers
            .ledger
            .set_status(id, Status::Paused, hold.resumes_at, context);
        if let Err(error) = written.await {
            let error = error.into();
            if is_refusal(&error) {
                tracing::warn!(activity = %id, %error, "the ledger refuses the pause that the store holds");
                self.let_go(id, hold, before).await?;
                self.sync_terms(id).await?;
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

    /// Ends the hold, or has it give way to the one before it.
    async fn let_go(&self, id: ActivityId, hold: Hold, before: Option<Hold>) -> Result<(), Error> {
        match before {
            Some(before) => self.layers.stock.hold(id, before).await?,
            None => self.layers.stock.release(id, hold).await?,
        }
        self.asked.forget(id);
        Ok(())
    }

    /// A pause of which the store did not say that it holds: the ledger gets it all the same, and the gate of this node lets nobody in.
    async fn pause_without_store(
        &self,
        id: ActivityId,
        (hold, before): (Hold, Option<Hold>),
        error: stock::Error,
        context: Context,
    ) -> Result<Activity, Error> {
        let is_unknown = error == stock::Error::OutcomeUnknown;
        if is_unknown {
            self.asked.set_unconfirmed(id, hold);
            self.show_again(id).await;
        } else {
            self.asked.forget(id);
        }
        let written = self.set_status(id, Status::Paused, hold.resumes_at, context).await;
        match written {
            Err(error) if is_refusal(&error) => {
                self.asked.forget(id);
                if is_unknown && let Err(error) = self.let_go(id, hold, before).await {
                    tracing::warn!(activity = %id, %error, "a pause that was refused ends when the store answers");
                }
                self.show_again(id).await;
                Err(error)
            }
            Err(_) if is_unknown => Err(stock::Error::OutcomeUnknown.into()),
            written => written,
        }
    }

    /// A sale without state admits nobody, and one that is no running or paused one can't be paused: both are the ledger's to decide.
    fn may_be_held(&self, id: ActivityId) -> bool {
        let status = self.layers.catalogue.all().get(&id).map(|activity| activity.status);
        self.has_state(id) && !matches!(status, Some(Status::Draft | Status::Closed))
    }

    /// The answer where the store holds the sale and the ledger could not be written.
    async fn held_without_ledger(&self, id: ActivityId, error: Error) -> Result<Activity, Error> {
        tracing::warn!(activity = %id, %error, "the sale is held; the ledger could not be written, the scheduler does it");
        self.tell_scheduler();
        if let Ok(known) = self.layers.catalogue.find(id) {
            return Ok(self.in_force(Activity::clone(&known)));
        }
        Ok(self.in_force(self.layers.ledger.activity(id).await?))
    }

    /// Shows the gate what it knows, as it is in force now.
    async fn show_again(&self, id: ActivityId) {
        if let Ok(known) = self.layers.catalogue.find(id) {
            self.show(&known).await;
        }
    }
}

/// Whether the ledger will never take it.
const fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Ledger(error) if !matches!(error, Ledger::Outage(_)))
}
