//! Room for tickets, as this node knows it: from what the shards of all sales were last seen to have.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use seckill_queue::SaleDepth;
use seckill_sale::{ActivityId, InQueue, Rooms};

use crate::keys::Place;
use crate::shared::Shared;
use crate::summary::Summary;

/// What the operator, and this node by itself, say of it.
#[derive(Debug)]
pub(crate) struct Backlog {
    most: AtomicU64,
    /// Sales that admit nobody, whatever room there is.
    held_back: RwLock<BTreeSet<ActivityId>>,
}

impl Backlog {
    pub(crate) fn new(most: u64) -> Self {
        Self {
            most: AtomicU64::new(most),
            held_back: RwLock::default(),
        }
    }

    pub(crate) fn set_most(&self, tickets: u64) {
        self.most.store(tickets, Ordering::Relaxed);
    }

    pub(crate) fn hold_back(&self, sales: BTreeSet<ActivityId>) {
        *self.held_back.write() = sales;
    }
}

impl Shared {
    /// Tickets that the queue may hold of this shard while the others hold what they were last seen to.
    pub(crate) fn room(&self, place: Place) -> u64 {
        if self.backlog.held_back.read().contains(&place.activity) {
            return 0;
        }
        let (mut depths, mut siblings) = (Vec::new(), 0);
        self.over_shards((), |(), other, shard| {
            if other.activity == place.activity && other != place {
                siblings += shard.figures.queued_tickets;
            }
            note(&mut depths, other.activity, shard);
        });
        let rooms = Rooms::of(
            self.backlog.most.load(Ordering::Relaxed),
            depths.iter().map(|sale| sale.in_queue),
        );
        let own = depths.iter().find(|sale| sale.activity == place.activity);
        let own = own.map_or_else(InQueue::default, |sale| sale.in_queue);
        rooms.room(own).saturating_sub(siblings)
    }

    /// What each sale was last seen to have of the queue.
    pub(crate) fn depths(&self) -> Vec<SaleDepth> {
        let mut depths = Vec::new();
        self.over_shards((), |(), place, shard| note(&mut depths, place.activity, shard));
        depths
    }
}

const fn in_queue(shard: &Summary) -> InQueue {
    InQueue {
        tickets: shard.figures.queued_tickets,
        units: if shard.is_open { shard.figures.stock_left } else { 0 },
    }
}

/// Adds a shard to its sale; the shards of one stand together.
fn note(depths: &mut Vec<SaleDepth>, activity: ActivityId, shard: &Summary) {
    let oldest = shard.figures.oldest_accepted_at;
    match depths.last_mut().filter(|last| last.activity == activity) {
        Some(last) => {
            last.in_queue = last.in_queue.and(in_queue(shard));
            last.oldest_accepted_at = last.oldest_accepted_at.into_iter().chain(oldest).min();
        }
        None => depths.push(SaleDepth {
            activity,
            in_queue: in_queue(shard),
            oldest_accepted_at: oldest,
        }),
    }
}
