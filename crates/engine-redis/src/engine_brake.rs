//! The handle as an emergency brake.

use async_trait::async_trait;
use redis::cmd;
use seckill_sale::{ActivityId, Hold, NotReady};
use seckill_stock::{Brake, Error, SWITCHES_BYTES_MAX};

use crate::engine::Engine;
use crate::keys;
use crate::sales::Known;

fn arguments(hold: Hold) -> Vec<Vec<u8>> {
    let resumes_at = hold.resumes_at.map(|at| at.to_string()).unwrap_or_default();
    vec![hold.held_at.to_string().into_bytes(), resumes_at.into_bytes()]
}

#[async_trait]
impl Brake for Engine {
    async fn hold(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        Ok(self.0.change(activity, "hold", arguments(hold)).await?)
    }

    async fn release(&self, activity: ActivityId, hold: Hold) -> Result<(), Error> {
        match self.0.change(activity, "release", arguments(hold)).await {
            Err(crate::Error::NotReady(NotReady::NotPreheated)) => Ok(()),
            outcome => Ok(outcome?),
        }
    }

    fn held(&self, activity: ActivityId) -> Option<Hold> {
        self.0.with_sale(activity, |sale| sale.and_then(Known::hold))
    }

    async fn keep_switches(&self, switches: Option<String>) -> Result<(), Error> {
        let switches = switches.unwrap_or_default();
        if SWITCHES_BYTES_MAX < switches.len() {
            return Err(Error::NotReady(NotReady::StoreFull));
        }
        let _done: String = self
            .0
            .link
            .command(cmd("SET").arg(keys::SWITCHES).arg(switches))
            .await?;
        Ok(())
    }

    async fn kept_switches(&self) -> Result<Option<String>, Error> {
        let kept: Option<String> = self.0.link.command(cmd("GET").arg(keys::SWITCHES)).await?;
        Ok(kept.filter(|switches| !switches.is_empty()))
    }
}
