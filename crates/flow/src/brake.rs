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

use seckill_ledger::Context;
use seckill_sale::{Activity, ActivityId, EpochMs, Hold, Status};
use seckill_stock as stock;

use crate::asked::Pause;
use crate::held::{is_refusal, paused_by};
use crate::{Error, Operator};

/// A pause of which the store did not say that it holds.
struct Untold {
    hold: Hold,
    /// What was in force before.
    before: Option<Hold>,
    /// What this process knew of an earlier pause.
    earlier: Option<Pause>,
}

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
        let before = self.held(id);
        let hold = Hold {
            held_at: context.now,
            resumes_at,
        };
        if !self.may_be_held(id) {
            return self.set_status(id, Status::Paused, resumes_at, context).await;
        }
        let earlier = self.asked.put(id, hold, &context);
        if let Err(error) = self.layers.stock.hold(id, hold).await {
            let untold = Untold { hold, before, earlier };
            return self.pause_without_store(id, untold, error, context).await;
        }
        self.show_again(id).await;
        tracing::info!(activity = %id, "held");
        let written = match self.write_hold(id, Some(context.clone()), before).await {
            Ok(Some(activity)) => Ok(activity),
            // Somebody else has written it meanwhile; the operator's key belongs into the ledger all the same.
            Ok(None) => self.set_status(id, Status::Paused, resumes_at, context).await,
            Err(error) => Err(error),
        };
        match written {
            Ok(activity) => Ok(activity),
            Err(error) if is_refusal(&error) => Err(error),
            Err(error) if self.is_pending(id) => self.held_without_ledger(id, error).await,
            // The store held the sale, and whoever has the ledger released it behind the ledger's rules.
            Err(Error::Ledger(error)) if error.is_outage() => self.written_elsewhere(id, hold, error.into()),
            Err(error) => Err(error),
        }
    }

    /// A pause of which the store did not say that it holds: the ledger gets it all the same, and the gate of this node lets nobody in.
    async fn pause_without_store(
        &self,
        id: ActivityId,
        untold: Untold,
        error: stock::Error,
        context: Context,
    ) -> Result<Activity, Error> {
        let hold = untold.hold;
        let is_unknown = error == stock::Error::OutcomeUnknown;
        // What is in force until the store answers: this pause, or the earlier one that it may have.
        let unanswered = if is_unknown {
            self.asked.set_unanswered(id, hold, &context);
            Some(hold)
        } else {
            self.asked.put_back(id, hold, untold.earlier.clone());
            untold.earlier.as_ref().map(Pause::hold)
        };
        self.show_again(id).await;
        let ledger = &self.layers.ledger;
        let written = ledger.set_status(id, Status::Paused, hold.resumes_at, context).await;
        match written.map_err(Error::from) {
            Err(error) if is_refusal(&error) => {
                if is_unknown {
                    self.undo(id, untold).await;
                }
                self.show_again(id).await;
                Err(error)
            }
            Err(_) if is_unknown => Err(stock::Error::OutcomeUnknown.into()),
            Err(error) => Err(error),
            // A request of long ago, repeated: it does nothing now, and the earlier pause stands.
            Ok(row) if row.status != Status::Paused && untold.before.is_some() => {
                if is_unknown {
                    self.undo(id, untold).await;
                }
                self.follow_status(row, None).await
            }
            Ok(row) => {
                if let Some(hold) = unanswered {
                    self.asked.set_in_ledger(id, hold);
                }
                self.follow_status(row, None).await
            }
        }
    }

    /// Takes back what was handed over to a store that does not answer.
    async fn undo(&self, id: ActivityId, untold: Untold) {
        let Untold { hold, before, earlier } = untold;
        let Some(before) = before else {
            self.asked.end(id, hold);
            self.release_ended(id, hold).await;
            return;
        };
        self.asked.put_back(id, hold, earlier);
        if let Err(error) = self.layers.stock.hold(id, before).await {
            tracing::warn!(activity = %id, %error, "a pause that was refused ends when the store answers");
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

    /// The answer where the store held the sale, and another process wrote the pause into a ledger that this one can't read: the store has the
    /// ledger's rules then. Else whoever released it knows what became of it.
    fn written_elsewhere(&self, id: ActivityId, hold: Hold, error: Error) -> Result<Activity, Error> {
        let by_store = self.layers.stock.standing(id).and_then(|state| state.status);
        if by_store != Some(Status::Paused) {
            return Err(stock::Error::OutcomeUnknown.into());
        }
        tracing::warn!(activity = %id, %error, "the sale was held, and another process wrote the pause; the ledger can't be read here");
        let known = self.layers.catalogue.find(id).map(|known| Activity::clone(&known));
        Ok(paused_by(hold, known.map_err(|_| error)?))
    }

    /// Shows the gate what it knows, as it is in force now.
    async fn show_again(&self, id: ActivityId) {
        if let Ok(known) = self.layers.catalogue.find(id) {
            self.show(&known).await;
        }
    }
}
