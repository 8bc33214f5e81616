//! The handle as an emergency brake.

use async_trait::async_trait;
use redis::{cmd, from_redis_value};
use seckill_sale::{ActivityId, Hold, NotReady, Status};
use seckill_stock::{Brake, Error, SWITCHES_BYTES_MAX, Standing, WAITING_MS};

use crate::engine::Engine;
use crate::keys;
use crate::script::{KEEP, TELL};
use crate::summary::Summary;

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

    fn standing(&self, activity: ActivityId) -> Option<Standing> {
        self.0.with_sale(activity, |sale| {
            let sale = sale?;
            let shards = || sale.read().map(|(_, shard)| shard);
            Some(Standing {
                // They differ while a sale is being brought in line with the ledger.
                epoch: shards().map(|shard| shard.figures.epoch).max()?,
                hold: sale.hold(),
                status: if shards().any(Summary::is_held) {
                    Some(Status::Paused)
                } else {
                    shards().all(|shard| shard.is_open).then_some(Status::Running)
                },
            })
        })
    }

    async fn keep_switches(
        &self,
        instead_of: Option<String>,
        switches: Option<String>,
    ) -> Result<Option<String>, Error> {
        let texts = [instead_of, switches].map(|text| text.unwrap_or_default().into_bytes());
        if texts.iter().any(|text| SWITCHES_BYTES_MAX < text.len()) {
            return Err(Error::NotReady(NotReady::StoreFull));
        }
        let answer = self.0.link.script(&KEEP, &[keys::SWITCHES.to_owned()], &texts).await?;
        let kept: String = from_redis_value(answer).map_err(|_not_ours| Error::OutcomeUnknown)?;
        Ok(Some(kept).filter(|switches| !switches.is_empty()))
    }

    async fn kept_switches(&self) -> Result<Option<String>, Error> {
        let kept: Option<String> = self.0.link.command(cmd("GET").arg(keys::SWITCHES)).await?;
        Ok(kept.filter(|switches| !switches.is_empty()))
    }

    async fn tell_waiting(&self, node: &str, waiting: Option<String>) -> Result<Vec<String>, Error> {
        let waiting = waiting.unwrap_or_default();
        if SWITCHES_BYTES_MAX < waiting.len() {
            return Err(Error::NotReady(NotReady::StoreFull));
        }
        let said = [node.to_owned(), waiting, WAITING_MS.to_string()].map(String::into_bytes);
        let mut arguments = vec![self.0.time.argument()];
        arguments.extend(said);
        let answer = self
            .0
            .link
            .script(&TELL, &[keys::WAITING.to_owned()], &arguments)
            .await?;
        from_redis_value(answer).map_err(|_not_ours| Error::OutcomeUnknown)
    }
}
