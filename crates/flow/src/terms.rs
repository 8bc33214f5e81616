//! Rules on their way from the ledger to the store and to the gate of this node.

use seckill_sale::{Activity, ActivityId, Status};

use crate::{Error, Operator};

impl Operator {
    /// Hands the rules that the ledger has now to the store, where it has a state, and to the catalogue.
    ///
    /// # Errors
    /// Ledger or store could not be reached; [`seckill_ledger::Error::NotFound`].
    pub async fn sync_terms(&self, id: ActivityId) -> Result<Activity, Error> {
        let (activity, told) = {
            let _one_at_a_time = self.terms.lock().await;
            let activity = self.layers.ledger.activity(id).await?;
            let told = self.tell_store(&activity).await;
            if told.is_ok() && !self.is_unissued(id) {
                self.fenced.lock().remove(&id);
            }
            (activity, told)
        };
        // The gate hears it also where the store could not: it may refuse earlier, never admit.
        self.show(&activity).await;
        told.map(|()| activity)
    }

    /// Has store and gate follow what the ledger has just `written`. Where it can't be read any more, that row stands for what it has now,
    /// as far as nothing is undone by it that somebody else has written since; the scheduler does the rest.
    ///
    /// # Errors
    /// As [`Operator::sync_terms`], but none that says that nothing was done.
    pub(crate) async fn follow_written(&self, written: Activity) -> Result<Activity, Error> {
        let followed = match self.sync_terms(written.id).await {
            Err(Error::Ledger(error)) if error.is_outage() => {
                tracing::warn!(activity = %written.id, %error, "what was written is all that is known; the scheduler does the rest");
                self.tell_scheduler();
                self.follow_unread(written).await
            }
            followed => followed,
        };
        followed.map_err(Error::after_the_ledger)
    }

    async fn follow_unread(&self, written: Activity) -> Result<Activity, Error> {
        let told = {
            let _one_at_a_time = self.terms.lock().await;
            let known = self.layers.catalogue.find(written.id).ok();
            if known.as_ref().is_some_and(|known| written.version < known.version) {
                return Err(seckill_stock::Error::OutcomeUnknown.into());
            }
            let is_news = known.is_none_or(|known| known.terms() != written.terms());
            match written.status {
                // Final: nobody can have written otherwise since.
                Status::Closed => self.tell_store(&written).await,
                _ if is_news && self.store_has(written.id).await? => Err(seckill_stock::Error::OutcomeUnknown.into()),
                _ => Ok(()),
            }
        };
        self.show(&written).await;
        told.map(|()| written)
    }

    async fn tell_store(&self, activity: &Activity) -> Result<(), Error> {
        if self.store_has(activity.id).await? {
            let mut terms = activity.terms();
            if terms.status == Status::Running && self.is_unissued(activity.id) {
                terms.status = Status::Paused;
            }
            self.layers.stock.change(terms).await?;
        }
        Ok(())
    }

    /// The store itself is asked whether it has a state: memory does not know of one whose frame may or may not be on the disk.
    async fn store_has(&self, id: ActivityId) -> Result<bool, Error> {
        Ok(self.has_state(id) || self.layers.stock.figures(id).await?.is_some())
    }
}
