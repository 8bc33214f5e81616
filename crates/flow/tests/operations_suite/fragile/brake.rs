//! Its emergency brake.

use async_trait::async_trait;
use parking_lot::Mutex;
use seckill_sale::{ActivityId, Hold};
use seckill_stock::{Brake, Error};

use super::Fragile;

/// What was handed over to a store whose disk does not answer; none while it does.
pub(super) struct Hanging(Mutex<Option<Vec<(ActivityId, Hold)>>>);

impl Hanging {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Nothing is taken but holds.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.0.lock().is_none().then_some(()).ok_or(Error::Unavailable)
    }
}

impl Fragile {
    /// From now on the disk does not answer, until [`Fragile::answer_again`].
    pub(crate) fn hang(&self) {
        *self.hanging.0.lock() = Some(Vec::new());
    }

    /// Does what was handed over meanwhile, and everything again.
    pub(crate) async fn answer_again(&self) {
        let holds = self.hanging.0.lock().take().expect("it hung");
        for (activity, hold) in holds {
            self.engine.hold(activity, hold).await.expect("held");
        }
    }
}

#[async_trait]
impl Brake for Fragile {
    async fn hold(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        if let Some(handed_over) = &mut *self.hanging.0.lock() {
            handed_over.push((activity, hold));
            return Err(Error::OutcomeUnknown);
        }
        self.stock_write()?;
        self.engine.hold(activity, hold).await
    }
    async fn release(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        self.stock_write()?;
        self.engine.release(activity, hold).await
    }
    fn held(&self, activity: ActivityId) -> Option<Hold> {
        self.engine.held(activity)
    }
    async fn keep_switches(&self, switches: Option<String>) -> Result<(), Error> {
        self.stock_write()?;
        self.engine.keep_switches(switches).await
    }
    async fn kept_switches(&self) -> Result<Option<String>, Error> {
        self.engine.kept_switches().await
    }
}
