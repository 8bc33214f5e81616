//! Whether a server could write what heals a sale: tried on keys of the probe's own, before the ledger counts its epoch up for it.

use redis::{FromRedisValue as _, Value};
use seckill_sale::{ActivityId, NotReady, Shards};
use seckill_stock::Remedy;

use crate::Error;
use crate::keys::Place;
use crate::script::{PROBE, PROBE_ROOM};
use crate::shared::Shared;

impl Shared {
    /// Asks the server of each shard; its refusal where it is full, can't be written, or where the user may not do what is needed.
    pub(crate) async fn can_heal(&self, activity: ActivityId, shards: Shards, by: Remedy) -> Result<(), Error> {
        let script = match by {
            Remedy::InPlace => &PROBE,
            Remedy::Build => &PROBE_ROOM,
        };
        for place in Place::all(activity, shards) {
            // Where nobody is told, others read the sale now and then: no channel is tried.
            let answer: Value = self.link.script(script, &place.probes(), &[Vec::new()]).await?;
            let refused = Vec::<String>::from_redis_value(answer).map_err(|_| Error::OutcomeUnknown)?;
            if !refused.is_empty() {
                tracing::error!(%place, ?refused, "the user may not run what healing a sale needs");
                return Err(Error::NotReady(NotReady::StoreUnsafe));
            }
        }
        Ok(())
    }
}
