//! The handle as an emergency brake: what it stops is in the journal before it returns.

use std::collections::HashMap;

use async_trait::async_trait;
use parking_lot::Mutex;
use seckill_sale::{ActivityId, Epoch, EpochMs, Hold, NotReady, SaleView, Status};
use seckill_stock::{Brake, Error, SWITCHES_BYTES_MAX, Standing, WAITING_MS};

use crate::Embedded;
use crate::command::Command;

/// What waits at which node, and until when that counts. In memory alone.
pub(crate) type Waiting = Mutex<HashMap<String, (EpochMs, String)>>;

#[async_trait]
impl Brake for Embedded {
    async fn hold(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        Ok(self.ask(|reply| Command::Hold(activity, hold, reply)).await?)
    }

    async fn release(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        Ok(self.ask(|reply| Command::Release(activity, hold, reply)).await?)
    }

    fn standing(&self, activity: ActivityId) -> Option<Standing> {
        let standing = |view: &SaleView| Standing {
            // No state of this engine goes back to an earlier one: its holds need no epochs to be told apart.
            epoch: Epoch::FIRST,
            hold: view.held(),
            status: match (view.is_open(), view.held()) {
                (true, _) => Some(Status::Running),
                (false, Some(_)) => Some(Status::Paused),
                // Paused by its rules, or closed.
                (false, None) => None,
            },
        };
        self.shared.with_view(activity, |view| view.map(standing))
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

    async fn tell_waiting(&self, node: &str, waiting: Option<String>) -> Result<Vec<String>, Error> {
        if waiting.as_ref().is_some_and(|text| SWITCHES_BYTES_MAX < text.len()) {
            return Err(Error::NotReady(NotReady::StoreFull));
        }
        let now = self.shared.clock.now();
        let mut all = self.shared.members.waiting.lock();
        all.retain(|at, (until, _)| at != node && (1..=WAITING_MS).contains(&until.since(now)));
        let others = all.values().map(|(_, text)| text.clone()).collect();
        all.extend(waiting.map(|text| (node.to_owned(), (now.plus(WAITING_MS), text))));
        Ok(others)
    }
}
