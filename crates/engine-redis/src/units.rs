//! Units that come to a sale or leave it by the ledger's word.
//!
//! A movement is applied in one shard, which its id chooses, so that applying it again finds it there; ids ascend and are applied in their
//! order, so the highest that any shard has is the sale's. Units that leave are gathered in that shard first, by transfers.

use seckill_sale::{ActivityId, Shards};
use seckill_stock::Rebase;

use crate::Error;
use crate::keys::Place;
use crate::reading::Reading;
use crate::script::CHANGE;
use crate::shared::Shared;
use crate::transfer::Within;

/// How often units are gathered while buyers are quicker.
const GATHERINGS_MAX: usize = 8;

impl Shared {
    /// Changes rules or marks in every shard at once.
    pub(crate) async fn change(&self, activity: ActivityId, what: &str, more: Vec<Vec<u8>>) -> Result<(), Error> {
        let shards = self.shards(activity).await?;
        for answer in self.call_all(&CHANGE, activity, shards, &named(what, more)).await? {
            answer.done()?;
        }
        Ok(())
    }

    /// Changes one shard; gives what the script says.
    pub(crate) async fn change_at(
        &self,
        place: Place,
        what: &str,
        more: Vec<Vec<u8>>,
    ) -> Result<Option<String>, Error> {
        let (_, payload) = self.call(&CHANGE, place, named(what, more)).await?.done()?;
        Ok(payload.into_iter().next())
    }

    pub(crate) async fn apply_movement(&self, activity: ActivityId, movement: u64, delta: i64) -> Result<(), Error> {
        let shards = self.shards(activity).await?;
        let home = Place::of(activity, shards, movement % shards.get());
        let arguments = [movement.to_string(), delta.to_string()]
            .map(String::into_bytes)
            .to_vec();
        if !shards.is_split() {
            self.change_at(home, "move", arguments).await?;
            return Ok(());
        }
        let whole = [arguments.clone(), vec![b"whole".to_vec()]].concat();
        let wanted = delta.min(0).unsigned_abs();
        for _ in 0..GATHERINGS_MAX {
            let reading = self.exact(activity, shards).await?;
            if reading
                .figures()
                .is_some_and(|figures| movement <= figures.applied_movement)
            {
                return Ok(());
            }
            if wanted != 0 {
                self.gather(home, &reading, wanted, Within::Any).await?;
            }
            if self.change_at(home, "move", whole.clone()).await?.is_none() {
                return Ok(());
            }
            let now = self.exact(activity, shards).await?;
            if now.units() < wanted && now.units() == now.shards[home.index()].figures.stock_left {
                // There are not so many: what there is goes, as from a sale in one piece.
                self.change_at(home, "move", arguments).await?;
                return Ok(());
            }
        }
        Err(Error::Unavailable)
    }

    /// Sets epoch, units and movement of each shard. Units leave where they are, or come to the first shard as the last step: a rebase that
    /// ends halfway leaves no more than there were before, or are to be.
    pub(crate) async fn rebase(&self, rebase: Rebase) -> Result<(), Error> {
        let activity = rebase.activity;
        let shards = self.shards(activity).await?;
        let lefts = match shards.is_split() {
            true => lefts(&self.exact(activity, shards).await?, rebase.left),
            false => vec![rebase.left],
        };
        let places: Vec<_> = Place::all(activity, shards).collect();
        for (place, left) in places.into_iter().zip(lefts).rev() {
            let numbers = [rebase.epoch.get(), left, rebase.applied_movement];
            let mut arguments: Vec<_> = numbers.map(|number| number.to_string().into_bytes()).into();
            arguments.push(if rebase.may_rise { "any" } else { "fall" }.into());
            let mine = rebase.requeue.iter().filter(|user| shards.of(user) == place.shard);
            arguments.extend(mine.map(|user| user.as_str().as_bytes().to_vec()));
            self.change_at(place, "rebase", arguments).await?;
        }
        Ok(())
    }

    async fn exact(&self, activity: ActivityId, shards: Shards) -> Result<Reading, Error> {
        let reading = self.look_exactly(activity).await?;
        let reading = reading.ok_or(Error::NotReady(seckill_sale::NotReady::NotPreheated))?;
        match reading.shards.len() as u64 == shards.get() {
            true => Ok(reading),
            false => Err(Error::Unavailable),
        }
    }
}

fn named(what: &str, more: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    [vec![what.as_bytes().to_vec()], more].concat()
}

/// What each shard has when there are `units` in all, with as few changes as can be.
fn lefts(reading: &Reading, units: u64) -> Vec<u64> {
    let mut lefts: Vec<_> = reading.shards.iter().map(|shard| shard.figures.stock_left).collect();
    let had: u64 = lefts.iter().sum();
    let mut surplus = had.saturating_sub(units);
    for left in &mut lefts {
        let less = surplus.min(*left);
        *left -= less;
        surplus -= less;
    }
    if let Some(first) = lefts.first_mut() {
        *first += units.saturating_sub(had);
    }
    lefts
}
