//! The store as an emergency brake.

use async_trait::async_trait;
use seckill_sale::{ActivityId, Hold};
use seckill_stock::{Brake, Error, Standing};

use super::Store;
use crate::fault::Fault;

#[async_trait]
impl Brake for Store {
    async fn hold(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        if self.weather.has(Fault::PauseIgnored) {
            return Ok(());
        }
        self.call(self.engine.hold(activity, hold)).await
    }

    async fn release(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        self.call(self.engine.release(activity, hold)).await
    }

    fn standing(&self, activity: ActivityId) -> Option<Standing> {
        self.engine.standing(activity)
    }

    async fn keep_switches(
        &self,
        instead_of: Option<String>,
        switches: Option<String>,
    ) -> Result<Option<String>, Error> {
        if switches.is_some() && self.weather.strikes(Fault::SwitchesForgotten, 2) {
            return Ok(switches);
        }
        self.call(self.engine.keep_switches(instead_of, switches)).await
    }

    async fn kept_switches(&self) -> Result<Option<String>, Error> {
        self.call(self.engine.kept_switches()).await
    }

    async fn tell_waiting(&self, node: &str, waiting: Option<String>) -> Result<Vec<String>, Error> {
        self.call(self.engine.tell_waiting(node, waiting)).await
    }
}
