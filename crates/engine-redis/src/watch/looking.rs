//! Messages of changes, and the looks that they bring about.

use std::sync::Arc;
use std::time::Duration;

use seckill_sale::{ActivityId, Epoch, Shards};

use crate::keys::Place;
use crate::sales::Known;
use crate::script::LOOK;
use crate::shared::Shared;

/// Between two looks at one shard: what many nodes change at once is seen at once. A first look waits for nobody.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// What a message says of its shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) epoch: Epoch,
    pub(crate) revision: u64,
    /// With what is on its way to another shard.
    pub(crate) left: u64,
    pub(crate) next_nth: u64,
}

impl Told {
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(|number| number.parse::<u64>().ok());
        let mut number = || numbers.next().flatten();
        Some(Self {
            epoch: Epoch::new(number()?).ok()?,
            revision: number()?,
            left: number()?,
            next_nth: number()?,
        })
    }
}

/// A shard that is being looked at.
#[derive(Debug, Default)]
pub(crate) struct Looking {
    /// Something was told since the look began.
    again: bool,
    /// What was told may mean that it sells, or that there is a buyer who is not known.
    pub(crate) may_sell: bool,
}

impl Shared {
    /// Looks at a shard of which more was told than is known.
    pub(super) fn hear(self: &Arc<Self>, activity: ActivityId, shard: u64, told: Told) {
        let (shards, is_news, may_sell) = self.with_sale(activity, |sale| {
            let shards = sale.map_or(Shards::ONE, Known::shards);
            let place = Place::of(activity, shards, shard);
            sale.and_then(|sale| sale.shard(place.index()))
                .map_or((shards, true, true), |known| {
                    let (epoch, revision) = (known.figures.epoch, known.figures.revision);
                    let is_news = (epoch, revision) < (told.epoch, told.revision);
                    let has_buyer = (epoch, known.next_nth) != (told.epoch, told.next_nth);
                    (shards, is_news, told.left != 0 || has_buyer)
                })
        });
        if !is_news {
            return;
        }
        // A shard that this sale does not have tells that it is another sale by now: a look at any finds out.
        let place = Place::of(activity, shards, shard % shards.get());
        let mut looking = self.looking.lock();
        if let Some(look) = looking.get_mut(&place) {
            look.again = true;
            look.may_sell |= may_sell;
            return;
        }
        let look = Looking { again: false, may_sell };
        looking.insert(place, look);
        tokio::spawn(Self::catch_up(self.clone(), place));
    }

    async fn catch_up(shared: Arc<Self>, place: Place) {
        loop {
            // Its answer wakes the workers.
            let looked = shared.call(&LOOK, place, vec![b"summary".to_vec()]).await;
            {
                let mut looking = shared.looking.lock();
                let again = looked.is_ok() && looking.get(&place).is_some_and(|look| look.again);
                if !again {
                    looking.remove(&place);
                    return;
                }
                let may_sell = true;
                looking.insert(place, Looking { again: false, may_sell });
            }
            tokio::time::sleep(LOOK_PAUSE).await;
        }
    }
}
