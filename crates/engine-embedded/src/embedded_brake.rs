//! The handle as an emergency brake: what it stops is in the journal before it returns.

use async_trait::async_trait;
use seckill_sale::{ActivityId, Hold, NotReady, SaleView};
use seckill_stock::{Brake, Error, SWITCHES_BYTES_MAX};

use crate::Embedded;
use crate::command::Command;

#[async_trait]
impl Brake for Embedded {
    async fn hold(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        Ok(self.ask(|reply| Command::Hold(activity, hold, reply)).await?)
    }

    async fn release(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        Ok(self.ask(|reply| Command::Release(activity, hold, reply)).await?)
    }

    fn held(&self, activity: ActivityId) -> Option<Hold> {
        self.shared.with_view(activity, |view| view.and_then(SaleView::held))
    }

    async fn keep_switches(
        &self,
        instead_of: Option<String>,
        switches: Option<String>,
    ) -> Result<Option<String>, Error> {
        let [instead_of, switches] = [instead_of, switches].map(Option::unwrap_or_default);
        if SWITCHES_BYTES_MAX < switches.len() {
            return Err(Error::NotReady(NotReady::StoreFull));
        }
        let command = |reply| Command::KeepSwitches {
            instead_of,
            switches,
            reply,
        };
        Ok(self.ask(command).await?)
    }

    async fn kept_switches(&self) -> Result<Option<String>, Error> {
        Ok(self.ask(Command::Switches).await?)
    }
}
