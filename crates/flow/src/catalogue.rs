//! The list of sales that the gate of this node knows, and the operator's writes that change it.
//!
//! It holds every unended activity and those that ended lately; any other id is refused without asking anybody.

use std::sync::Arc;

use seckill_gate::ENDED_KEPT_MS;
use seckill_ledger::{ActivityPatch, Context, EligibleList, Ledger, NewActivity};
use seckill_sale::{Activity, ActivityId, EpochMs};

use crate::{Error, Operator};

/// Every activity that the gate has to know at `now`.
///
/// # Errors
/// The ledger could not be read.
pub async fn live_activities(ledger: &dyn Ledger, now: EpochMs) -> Result<Vec<Activity>, seckill_ledger::Error> {
    ledger.live_activities(now.plus(-ENDED_KEPT_MS)).await
}

impl Operator {
    /// Reads the list again and publishes it to the gate, with sales that the store holds shown as paused. Gives the rows as they are.
    ///
    /// # Errors
    /// The ledger could not be read; the gate keeps what it knows.
    pub async fn refresh_catalogue(&self) -> Result<Vec<Activity>, Error> {
        let _one_at_a_time = self.listing.lock().await;
        let activities = live_activities(&*self.layers.ledger, self.layers.stock.now()).await?;
        // Whoever comes to a sale by this list meets no state of another one that had its number.
        self.tell_whose_numbers(activities.iter());
        let in_force = |activity: &Activity| Arc::new(self.in_force(activity.clone()));
        self.layers.catalogue.replace(activities.iter().map(in_force));
        let is_listed = |id| activities.iter().any(|activity| activity.id == id);
        self.audited.lock().retain(|id, _| is_listed(*id));
        self.asked.retain(is_listed);
        Ok(activities)
    }

    /// Shows a changed activity to the gate at once.
    pub(crate) async fn show(&self, activity: &Activity) {
        let _one_at_a_time = self.listing.lock().await;
        let known = self.layers.catalogue.all();
        let others = known
            .values()
            .map(AsRef::as_ref)
            .filter(|known| known.id != activity.id);
        self.tell_whose_numbers(others.chain([activity]));
        self.layers.catalogue.put(&Arc::new(self.in_force(activity.clone())));
    }

    /// Tells the store when each sale was created, for [`seckill_stock::Stock::set_created`].
    fn tell_whose_numbers<'a>(&self, activities: impl Iterator<Item = &'a Activity>) {
        let created = activities.map(|activity| (activity.id, activity.created_at));
        self.layers.stock.set_created(created.collect());
    }

    /// Makes an activity, known to the gate when this returns. The scheduler preheats it when its time has come, or at once.
    ///
    /// # Errors
    /// [`seckill_ledger::Conflict::ProductShort`], and whatever else the ledger says.
    pub async fn create_activity(&self, activity: NewActivity, context: Context) -> Result<Activity, Error> {
        let activity = self.layers.ledger.create_activity(activity, context).await?;
        self.show(&activity).await;
        self.tell_scheduler();
        Ok(activity)
    }

    /// Puts a list of those who may buy in the place of an activity's present one. `put_in_force` brings it to where buyers are looked up,
    /// between the write and the moment at which this node shows that the activity has a list: a gate that knows of a list and has none
    /// lets nobody in.
    ///
    /// # Errors
    /// What the ledger says.
    pub async fn set_eligible_list(
        &self,
        id: ActivityId,
        list: Arc<EligibleList>,
        context: Context,
        put_in_force: impl FnOnce(&Activity) + Send,
    ) -> Result<Activity, Error> {
        let activity = self.layers.ledger.set_eligible_list(id, list, context).await?;
        put_in_force(&activity);
        self.show(&activity).await;
        Ok(activity)
    }

    /// Takes an activity's list of those who may buy away.
    ///
    /// # Errors
    /// What the ledger says.
    pub async fn remove_eligible_list(&self, id: ActivityId, context: Context) -> Result<Activity, Error> {
        let activity = self.layers.ledger.remove_eligible_list(id, context).await?;
        self.show(&activity).await;
        Ok(activity)
    }

    /// Changes an activity; store and gate follow before this returns.
    ///
    /// # Errors
    /// What the ledger says. A store that can't be reached: the change is made, and reaches the store by the scheduler; asking again is harmless.
    pub async fn patch_activity(
        &self,
        id: ActivityId,
        patch: ActivityPatch,
        context: Context,
    ) -> Result<Activity, Error> {
        // Whether the sale has ended is asked now, not when the request came.
        let now = self.layers.stock.now();
        let context = Context { now, ..context };
        let written = self.layers.ledger.patch_activity(id, patch, context).await?;
        self.tell_scheduler();
        self.follow_written(written).await
    }
}
