//! The state of another sale that had the number: the ledger was restored from an older copy, has lost that sale, and gave its number out
//! again. Every script compares the moments at which both were created (`lua/state.lua`), so no node sells from it, hands its tickets out
//! or changes it, whatever it remembers.

use std::collections::BTreeMap;

use redis::{FromRedisValue as _, Value, cmd};
use seckill_sale::{ActivityId, Epoch, EpochMs, Restored, Shards};

use crate::Error;
use crate::healing::Part;
use crate::keys::{self, Place};
use crate::script::DROP;
use crate::shared::Shared;

impl Shared {
    /// When the sale was created, as far as this node was told.
    pub(crate) fn created_at(&self, activity: ActivityId) -> Option<EpochMs> {
        self.created.read().get(&activity).copied()
    }

    /// Whether a state that says so is one of another sale.
    pub(crate) fn is_of_another(&self, activity: ActivityId, created_at: Option<EpochMs>) -> bool {
        let known = created_at.zip(self.created_at(activity));
        known.is_some_and(|(own, of)| own != of)
    }

    /// Takes up when each sale was created, and forgets what is remembered of others that had their numbers.
    pub(crate) fn set_created(&self, created: BTreeMap<ActivityId, EpochMs>) {
        *self.created.write() = created;
        let others = self.over_shards(Vec::new(), |mut others, place, shard| {
            if self.is_of_another(place.activity, shard.created_at) {
                others.push(place.activity);
            }
            others
        });
        for activity in others {
            self.forget_another(activity);
        }
        self.remembered
            .drop_others(|activity, at| self.is_of_another(activity, at));
    }

    /// As [`Shared::forget`], and nothing of it is told to those who ask what the sale was like before.
    pub(crate) fn forget_another(&self, activity: ActivityId) {
        self.forget(activity);
        self.seen.lock().remove(&activity);
    }

    /// Shard after shard, the first one last: while it is there the others are found by it.
    pub(crate) async fn give_up_another(&self, activity: ActivityId) -> Result<Vec<Restored>, Error> {
        let Some(shards) = self.shards_of_another(activity).await? else {
            return Ok(Vec::new());
        };
        let mut buyers = Vec::new();
        for place in Place::all(activity, shards) {
            buyers.extend(self.read_all(place, &place.keys()).await?);
        }
        let mut places: Vec<_> = Place::all(activity, shards).collect();
        while let Some(place) = places.pop() {
            self.run(&DROP, &place.keys_and_aside(), (0, place), Vec::new()).await?;
        }
        self.forget_another(activity);
        let mut command = cmd("SREM");
        command.arg(keys::SALES).arg(keys::listed(activity, shards));
        let _removed: u64 = self.link.command(&command).await?;
        buyers.sort_unstable_by_key(|buyer| buyer.sequence);
        Ok(buyers)
    }

    /// How many shards the state of another sale has; none where there is no such state.
    async fn shards_of_another(&self, activity: ActivityId) -> Result<Option<Shards>, Error> {
        let asked = self.shards_in_store(activity).await?.unwrap_or(Shards::ONE);
        let parts = self.all_parts(activity, asked).await?;
        Ok(parts.iter().find_map(|part| match part {
            Part::Another(_, shards) => Some(*shards),
            _ => None,
        }))
    }
}

/// Epoch and shards of a state of another sale.
pub(crate) fn another(value: &Value) -> Option<(Epoch, Shards)> {
    let said = payload_of(value, &["another"])?;
    Some((said.first()?.parse().ok()?, said.get(1)?.parse().ok()?))
}

/// The payload of an answer without a summary, where its status is one of these.
pub(crate) fn payload_of(value: &Value, statuses: &[&str]) -> Option<Vec<String>> {
    let Value::Array(parts) = value else { return None };
    let status = String::from_redis_value(parts.first()?.clone()).ok()?;
    let is_wanted = statuses.contains(&status.as_str());
    is_wanted.then(|| Vec::from_redis_value(parts.get(3)?.clone()).ok())?
}
