//! What stands in the shards of a sale that is to be built.

use seckill_sale::{Epoch, NotReady};
use seckill_stock::Opening;

use crate::Error;
use crate::keys::Place;
use crate::look::Found;
use crate::script::LOOK;
use crate::shared::Shared;
use crate::summary::Outcome;

/// What stands in the shards.
pub(crate) enum Standing {
    /// What gives way, in each.
    Gives(Vec<Option<Epoch>>),
    Exists(Epoch),
}

impl Shared {
    /// Whether the sale may be built, and in place of what.
    pub(crate) async fn standing(&self, opening: &Opening) -> Result<Standing, Error> {
        let (activity, shards) = (opening.opened.terms.activity, opening.shards);
        let gives = |epoch: Epoch| opening.replaces == Some(epoch);
        match self.look_at(activity, shards).await {
            Ok(Found::Nothing) => return Ok(Standing::Gives(vec![None; Place::all(activity, shards).count()])),
            Ok(Found::Whole(reading)) => {
                let epoch = reading
                    .figures()
                    .map(|figures| figures.epoch)
                    .ok_or(Error::Unavailable)?;
                if !gives(epoch) {
                    return Ok(Standing::Exists(epoch));
                }
            }
            Ok(Found::HalfBuilt) => {
                if let Some(epoch) = self.finish_building(activity, shards).await? {
                    return Ok(Standing::Exists(epoch));
                }
            }
            Ok(Found::Split(others)) => {
                tracing::error!(%activity, %shards, %others, "a sale that is open keeps the number of its shards");
                return Err(Error::NotReady(NotReady::StoreUnsafe));
            }
            // Shard by shard below.
            Err(Error::NotReady(_)) => {}
            Err(error) => return Err(error),
        }
        let mut replaced = Vec::new();
        let mut first_gives = false;
        for place in Place::all(activity, shards) {
            let epoch = match self.call(&LOOK, place, vec![b"summary".to_vec()]).await?.outcome {
                Outcome::Done(summary, _) => Some(summary.figures.epoch),
                Outcome::None => None,
                Outcome::Preheating | Outcome::Filled | Outcome::Unusable(NotReady::Recovering) => {
                    // Behind a first shard that is being built, whole ones are what it replaces; else a shard is lost, and its sale with it.
                    first_gives |= place.shard == 0;
                    None
                }
                _ => return Err(Error::NotReady(NotReady::StoreUnsafe)),
            };
            if epoch.is_some_and(|epoch| !gives(epoch) && !first_gives) {
                return Err(Error::NotReady(NotReady::StoreUnsafe));
            }
            replaced.push(epoch);
        }
        Ok(Standing::Gives(replaced))
    }
}
