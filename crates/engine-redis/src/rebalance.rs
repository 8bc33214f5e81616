//! Levels the shards of open sales: unsold units go from the richest to the poorest before the poor ones run dry and their buyers have to
//! wait for a pull. It also finishes transfers that a node left behind when it died.

use seckill_sale::ActivityId;

use crate::Error;
use crate::keys::Place;
use crate::reading::Reading;
use crate::shared::Shared;
use crate::transfer::{Debit, Within};

/// Smaller differences are left to pulls.
const DIFFERENCE_MIN: u64 = 16;

impl Shared {
    /// One round over all sales of several shards. What fails with one, since its server is gone or it cannot be used, does with another.
    pub(crate) async fn rebalance(&self) -> Result<(), Error> {
        let sales = self.over_shards(Vec::new(), |mut sales, place, _| {
            if place.shards.is_split() && place.shard == 0 {
                sales.push(place.activity);
            }
            sales
        });
        let mut failed = None;
        for activity in sales {
            let levelled = match self.look(activity).await {
                Ok(Some(reading)) => self.level(activity, &reading).await,
                Ok(None) | Err(Error::NotReady(_)) => Ok(()),
                Err(error) => Err(error),
            };
            failed = failed.or(levelled.err());
        }
        failed.map_or(Ok(()), Err)
    }

    async fn level(&self, activity: ActivityId, reading: &Reading) -> Result<(), Error> {
        self.finish_all(activity, reading).await?;
        if !reading.shards.iter().all(|shard| shard.is_open) {
            return Ok(());
        }
        let mut shards: Vec<_> = reading
            .places(activity)
            .map(|(place, shard)| (shard.figures.stock_left, place))
            .collect();
        shards.sort_by_key(|&(left, place)| (left, place.shard));
        for debit in debits(&shards) {
            self.transfer(debit).await?;
        }
        Ok(())
    }
}

/// The richest gives to the poorest, the second richest to the second poorest, and so on, up to their mean. What stays is that mean, too:
/// where several nodes level a sale at once, the second finds nothing to move.
fn debits(ascending: &[(u64, Place)]) -> Vec<Debit> {
    let (poor, rich) = ascending.split_at(ascending.len() / 2);
    let pairs = poor.iter().zip(rich.iter().rev());
    let uneven = pairs.filter(|((poor, _), (rich, _))| poor + DIFFERENCE_MIN <= *rich && poor * 2 < *rich);
    uneven
        .map(|(&(poor, taker), &(rich, giver))| {
            let mean = (poor + rich).div_ceil(2);
            Debit {
                giver,
                taker,
                units: rich - mean,
                keep: mean,
                within: Within::Open,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use seckill_sale::Shards;

    use super::*;

    fn moved(lefts: &[u64]) -> Vec<(u64, u64, u64)> {
        let activity = ActivityId::new(7).expect("in range");
        let shards = Shards::new(lefts.len() as u64).expect("in range");
        let mut places: Vec<_> = lefts.iter().copied().zip(Place::all(activity, shards)).collect();
        places.sort_by_key(|&(left, place)| (left, place.shard));
        let debits = debits(&places);
        debits
            .iter()
            .map(|debit| (debit.giver.shard, debit.taker.shard, debit.units))
            .collect()
    }

    #[test]
    fn the_richest_gives_to_the_poorest_and_level_shards_stand_still() {
        assert_eq!(moved(&[100, 0, 50, 60]), [(0, 1, 50)]);
        assert_eq!(moved(&[100, 0, 4, 60]), [(0, 1, 50), (3, 2, 28)]);
        assert_eq!(moved(&[25, 25, 25, 25]), []);
        assert_eq!(moved(&[8, 0]), [], "too little to matter");
        assert_eq!(moved(&[1_000, 900, 600]), [], "nobody is poor");
    }
}
