//! The emergency brake: a pause holds in the store before the ledger is asked, so it works while the database does not.
//!
//! ```text
//! pause ─▶ hold in the store, durable ─▶ ledger paused ─▶ rules into the store ─▶ hold released
//!                │                           └─ cannot be written: the answer says so, and the scheduler writes it
//!                └─ a crash anywhere: the store still holds, and the scheduler writes it
//! ```
//! A hold stands beside the rules, so no reading of the ledger lifts it. Whoever resumes writes what is held first.

use seckill_ledger::{Context, Error as Ledger};
use seckill_sale::{Activity, ActivityId, EpochMs, Hold, Status};

use crate::{Error, Operator};

/// Who pauses, for a pause that the ledger hears of later: nobody else holds a sale.
const ACTOR: &str = "admin";

impl Operator {
    /// Lets nobody in until resumed, or until `resumes_at`. When this returns, no further ticket is given out, also where the ledger could
    /// not be written: [`Operator::is_pending`] tells, and the scheduler writes it as soon as it can.
    ///
    /// # Errors
    /// [`seckill_ledger::Conflict::Closed`]; a store that can't be reached; and, where the store has no state and so admits nobody, a ledger
    /// that can't be. Asking again is harmless.
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
        if !self.may_be_held(id) || self.layers.stock.hold(id, hold).await.is_err() {
            return self.set_status(id, Status::Paused, resumes_at, context).await;
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
        self.layers.stock.held(id).is_some()
    }

    /// The activity as it is in force: a row of the ledger that does not know of a pause yet is shown as paused.
    #[must_use]
    pub fn in_force(&self, activity: Activity) -> Activity {
        match self.layers.stock.held(activity.id) {
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
        let context = context.unwrap_or_else(|| Context {
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
                match before {
                    Some(before) => self.layers.stock.hold(id, before).await?,
                    None => self.layers.stock.release(id, hold).await?,
                }
                self.sync_terms(id).await?;
            }
            return Err(error);
        }
        let activity = self.sync_terms(id).await?;
        match before.filter(|_| activity.status != Status::Paused) {
            // A request of long ago, repeated: what it did was undone since, and it does nothing now. The earlier pause stands.
            Some(before) => self.layers.stock.hold(id, before).await?,
            None => self.layers.stock.release(id, hold).await?,
        }
        self.show(&activity).await;
        self.tell_scheduler();
        tracing::info!(activity = %id, status = ?activity.status, "the ledger was told");
        Ok(Some(self.in_force(activity)))
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
