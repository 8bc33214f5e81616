//! The buyers of a sale page by page, shard after shard.

use std::collections::HashMap;

use seckill_sale::{ActivityId, Buyer, UserId};

use crate::Error;
use crate::buyer::read_buyer;
use crate::keys::Place;
use crate::shared::Shared;
use crate::walk::Walk;

/// Buyers that a page is meant to have.
const PAGE_SIZE: usize = 1_000;
/// Walks whose next page is remembered.
const WALKS_MAX: usize = 64;

/// Where a reading stands: a shard, and the walk over its buyers; none behind the last shard.
type Stand = Option<(u64, Walk)>;

/// Where the next page of each walk begins.
#[derive(Default)]
pub(crate) struct Walks(HashMap<(ActivityId, u32), Stand>);

impl Walks {
    /// Notes where the walk that has told `page` goes on.
    fn go_on(&mut self, activity: ActivityId, page: u32, stand: Stand) {
        self.0.remove(&(activity, page));
        if WALKS_MAX <= self.0.len() {
            self.0.clear();
        }
        self.0.insert((activity, page + 1), stand);
    }
}

impl Shared {
    /// A page is what one step of a walk hands out. A walk that goes on finds its place; one that leaps walks there. It tells every buyer that
    /// was there all the time, and may tell one twice: while buyers come, or where a server started anew and its shard is told again.
    pub(crate) async fn buyers_page(&self, activity: ActivityId, page: u32) -> Result<Option<Vec<Buyer>>, Error> {
        let shards = self.shards(activity).await?;
        let begun = |shard| (shard, Walk::over(Place::of(activity, shards, shard).buyers()));
        let known = self.walks.lock().0.get(&(activity, page)).cloned();
        let (mut at, mut stand) = known.map_or_else(|| (0, Some(begun(0))), |stand| (page, stand));
        loop {
            let Some((shard, mut walk)) = stand else {
                return Ok(None);
            };
            let place = Place::of(activity, shards, shard);
            let step = self.walk_on(&mut walk, PAGE_SIZE).await?;
            stand = match step.is_last {
                true if shard + 1 == shards.get() => None,
                true => Some(begun(shard + 1)),
                false => Some((shard, walk)),
            };
            if at == page {
                // Not before: a caller who asks again goes on from here, and does not walk here anew, by another server's order.
                self.walks.lock().go_on(activity, page, stand);
                let text = |bytes| String::from_utf8(bytes).ok();
                let read = |(user, record)| read_buyer(place, UserId::new(&text(user)?).ok()?, &text(record)?);
                return Ok(Some(step.pairs.into_iter().filter_map(read).collect()));
            }
            at += 1;
        }
    }
}
