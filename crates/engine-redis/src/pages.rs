//! The buyers of a sale page by page, shard after shard.

use std::collections::HashMap;

use redis::cmd;
use seckill_sale::{ActivityId, Buyer, UserId};

use crate::Error;
use crate::buyer::read_buyer;
use crate::keys::Place;
use crate::shared::Shared;

/// Buyers that a page is meant to have.
const PAGE_SIZE: usize = 1_000;
/// Walks whose next page is remembered.
const WALKS_MAX: usize = 64;

/// Where a walk stands: a shard, and the cursor of its HSCAN; none behind the last shard.
type Stand = Option<(u64, u64)>;

/// Where the next page of each walk begins.
#[derive(Default)]
pub(crate) struct Walks(HashMap<(ActivityId, u32), Stand>);

impl Walks {
    fn keep(&mut self, activity: ActivityId, page: u32, stand: Stand) {
        if WALKS_MAX <= self.0.len() {
            self.0.clear();
        }
        self.0.insert((activity, page), stand);
    }
}

impl Shared {
    /// A page is what one HSCAN hands out. A walk that goes on finds its place; one that leaps walks there. As HSCAN does, it tells every
    /// buyer that was there all the time, and may tell one twice while buyers come.
    pub(crate) async fn buyers_page(&self, activity: ActivityId, page: u32) -> Result<Option<Vec<Buyer>>, Error> {
        let shards = self.shards(activity).await?;
        let known = self.walks.lock().0.remove(&(activity, page));
        let (mut at, mut stand) = known.map_or((0, Some((0, 0))), |stand| (page, stand));
        loop {
            let Some((shard, cursor)) = stand else {
                return Ok(None);
            };
            let place = Place::of(activity, shards, shard);
            let (next, pairs) = self.scan(place, cursor, PAGE_SIZE).await?;
            stand = match next {
                0 if shard + 1 == shards.get() => None,
                0 => Some((shard + 1, 0)),
                next => Some((shard, next)),
            };
            if at == page {
                self.walks.lock().keep(activity, page + 1, stand);
                let read = |(user, record): (String, String)| read_buyer(place, UserId::new(&user).ok()?, &record);
                return Ok(Some(pairs.into_iter().filter_map(read).collect()));
            }
            at += 1;
        }
    }

    /// One step of a walk over a shard's buyers: the next cursor, and users with their records.
    pub(crate) async fn scan(
        &self,
        place: Place,
        cursor: u64,
        count: usize,
    ) -> Result<(u64, Vec<(String, String)>), Error> {
        let mut command = cmd("HSCAN");
        command.arg(place.buyers()).arg(cursor).arg("COUNT").arg(count);
        self.link.command(&command).await
    }
}
