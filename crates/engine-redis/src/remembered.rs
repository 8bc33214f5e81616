//! Admissions of this node that are not settled yet: what it can still tell when their state is lost.
//!
//! ```text
//! admitted ──settled, as the sale's last reading says──▶ forgotten
//!    └──the sale has a state of a later epoch──▶ orphan: told once for each such epoch, to be offered to it
//! ```
//! They cost memory and no IO. A node that dies forgets them, so this narrows what a lost state costs, and promises nothing.

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use seckill_sale::{Claim, Delivery, Epoch, Ticket};
use seckill_stock::{Answer, Reserved};

use crate::keys::Place;
use crate::summary::Summary;

/// Tickets that a node remembers of a shard at most; the oldest are forgotten first. As many as may wait for settlement by default.
const TICKETS_MAX: usize = 200_000;

#[derive(Default)]
struct Shard {
    /// Epoch of the state that has them, as far as this node knows; 0 before the first reading.
    epoch: u64,
    /// By sequence.
    tickets: BTreeMap<u64, Delivery>,
}

/// What this node remembers of all shards.
#[derive(Default)]
pub(crate) struct Remembered(Mutex<HashMap<Place, Shard>>);

impl Remembered {
    /// Notes who was admitted, in the state of `epoch`.
    pub(crate) fn note(&self, place: Place, epoch: Epoch, claims: &[&Claim], answers: &[Answer]) {
        let admitted = claims.iter().zip(answers);
        let mut admitted = admitted
            .filter_map(|(claim, answer)| Some((claim, answer.as_ref().ok()?)))
            .peekable();
        if admitted.peek().is_none() {
            return;
        }
        let mut shards = self.0.lock();
        let shard = shards.entry(place).or_default();
        if shard.tickets.is_empty() {
            shard.epoch = epoch.get();
        }
        for (claim, reserved) in admitted.filter(|(_, reserved)| !reserved.replayed) {
            shard
                .tickets
                .insert(reserved.ticket.sequence, delivery(claim, reserved));
        }
        while TICKETS_MAX < shard.tickets.len() {
            shard.tickets.pop_first();
        }
    }

    /// Forgets what is settled by a reading of the state that has them.
    pub(crate) fn settled(&self, place: Place, summary: &Summary) {
        let mut shards = self.0.lock();
        let Some(shard) = shards.get_mut(&place) else {
            return;
        };
        if shard.epoch == summary.figures.epoch.get() {
            shard.tickets = shard.tickets.split_off(&(summary.figures.settled_up_to + 1));
        }
        if shard.tickets.is_empty() {
            shards.remove(&place);
        }
    }

    /// Forgets one that was made final by hand.
    pub(crate) fn forget(&self, ticket: Ticket) {
        let mut shards = self.0.lock();
        let of_sale = shards.iter_mut().filter(|(place, _)| place.activity == ticket.activity);
        for (_, shard) in of_sale {
            shard.tickets.remove(&ticket.sequence);
        }
    }

    /// Whether a shard's state is of a later epoch than the one that had its tickets.
    pub(crate) fn has_orphans(&self, epoch_of: impl Fn(Place) -> Option<u64>) -> bool {
        let shards = self.0.lock();
        shards
            .iter()
            .any(|(&place, shard)| epoch_of(place).is_some_and(|epoch| shard.epoch < epoch))
    }

    /// Tickets whose state was replaced since they were told last. They stay remembered, as those of the present state.
    pub(crate) fn orphans(&self, epoch_of: impl Fn(Place) -> Option<u64>) -> Vec<Delivery> {
        let mut orphans = Vec::new();
        for (&place, shard) in self.0.lock().iter_mut() {
            if let Some(epoch) = epoch_of(place).filter(|&epoch| shard.epoch < epoch) {
                shard.epoch = epoch;
                orphans.extend(shard.tickets.values().cloned());
            }
        }
        orphans
    }
}

fn delivery(claim: &Claim, reserved: &Reserved) -> Delivery {
    Delivery {
        ticket: reserved.ticket,
        user: claim.user.clone(),
        quantity: claim.quantity,
        key: claim.key,
        accepted_at: reserved.accepted_at,
        request_id: claim.request_id.clone(),
        attempts: 0,
        deliveries: 0,
    }
}
