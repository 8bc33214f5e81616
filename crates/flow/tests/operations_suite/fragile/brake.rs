//! Its emergency brake.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use seckill_sale::{ActivityId, Hold};
use seckill_stock::{Brake, Error, Standing, Stock as _};

use super::Fragile;

impl Fragile {
    /// Holds and ends of holds that were handed over to it.
    pub(crate) fn told(&self) -> u64 {
        self.told.load(Ordering::SeqCst)
    }

    /// Answers no hold any more, and carries none out, as a disk that is full when it comes back: or all of them again.
    pub(crate) fn lose_holds(&self, loses: bool) {
        self.loses_holds.store(loses, Ordering::SeqCst);
    }
}

#[async_trait]
impl Brake for Fragile {
    async fn hold(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        self.told.fetch_add(1, Ordering::SeqCst);
        if self.loses_holds.load(Ordering::SeqCst) {
            return Err(Error::OutcomeUnknown);
        }
        self.stock_write()?;
        self.engine.hold(activity, hold).await?;
        let ends = *self.ends_holds.lock();
        if let Some(terms) = ends {
            self.engine.change(terms).await?;
            self.engine.release(activity, hold).await?;
        }
        Ok(())
    }
    async fn release(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        self.told.fetch_add(1, Ordering::SeqCst);
        self.stock_write()?;
        self.engine.release(activity, hold).await
    }
    fn standing(&self, activity: ActivityId) -> Option<Standing> {
        self.engine.standing(activity)
    }
    async fn keep_switches(
        &self,
        instead_of: Option<String>,
        switches: Option<String>,
    ) -> Result<Option<String>, Error> {
        self.stock_write()?;
        self.engine.keep_switches(instead_of, switches).await
    }
    async fn kept_switches(&self) -> Result<Option<String>, Error> {
        self.engine.kept_switches().await
    }
    async fn tell_waiting(&self, node: &str, waiting: Option<String>) -> Result<Vec<String>, Error> {
        self.engine.tell_waiting(node, waiting).await
    }
}
