//! Messages of changes, and the looks that they bring about.

use std::sync::Arc;
use std::time::Duration;

use seckill_sale::{ActivityId, Epoch};

use crate::shared::Shared;

/// Between two looks at one sale: what many nodes change at once is seen at once. A first look waits for nobody.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// What a message says of its sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) epoch: Epoch,
    pub(crate) revision: u64,
    pub(crate) left: u64,
    pub(crate) next_sequence: u64,
}

impl Told {
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(|number| number.parse::<u64>().ok());
        let mut number = || numbers.next().flatten();
        Some(Self {
            epoch: Epoch::new(number()?).ok()?,
            revision: number()?,
            left: number()?,
            next_sequence: number()?,
        })
    }
}

/// A sale that is being looked at.
#[derive(Debug, Default)]
pub(crate) struct Looking {
    /// Something was told since the look began.
    again: bool,
    /// What was told may mean that it sells, or that there is a buyer who is not known.
    pub(crate) may_sell: bool,
}

impl Shared {
    /// Looks at a sale of which more was told than is known.
    pub(super) fn hear(self: &Arc<Self>, activity: ActivityId, told: Told) {
        let (is_news, may_sell) = self.with_sale(activity, |sale| {
            sale.map_or((true, true), |sale| {
                let figures = &sale.figures;
                let known_buyers = (figures.epoch, figures.next_sequence);
                let is_news = (figures.epoch, figures.revision) < (told.epoch, told.revision);
                (
                    is_news,
                    told.left != 0 || known_buyers != (told.epoch, told.next_sequence),
                )
            })
        });
        if !is_news {
            return;
        }
        let mut looking = self.looking.lock();
        if let Some(look) = looking.get_mut(&activity) {
            look.again = true;
            look.may_sell |= may_sell;
            return;
        }
        let look = Looking { again: false, may_sell };
        looking.insert(activity, look);
        tokio::spawn(Self::catch_up(self.clone(), activity));
    }

    async fn catch_up(shared: Arc<Self>, activity: ActivityId) {
        loop {
            // Its answer wakes the workers.
            let looked = shared.look(activity).await;
            {
                let mut looking = shared.looking.lock();
                let again = looked.is_ok() && looking.get(&activity).is_some_and(|look| look.again);
                if !again {
                    looking.remove(&activity);
                    return;
                }
                let may_sell = true;
                looking.insert(activity, Looking { again: false, may_sell });
            }
            tokio::time::sleep(LOOK_PAUSE).await;
        }
    }
}
