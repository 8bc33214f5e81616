//! Admissions of this node that are not settled yet: what it can still tell when their state is lost.
//!
//! ```text
//! admitted ──settled, as the sale's last reading says──▶ forgotten
//!    │ ▲
//!    │ └──that state has taken it in──┐
//!    └──the sale has a state of a later epoch──▶ offered, to each such epoch once, until one has answered for it
//! ```
//! Readings overtake one another: a ticket is forgotten only by one that is no older than the answer by which the ticket is known. An older
//! one says of a ticket that was adopted behind it, and has a low number, that it is settled.
//!
//! They cost memory and no IO. A node that dies forgets them, so this narrows what a lost state costs, and promises nothing.

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use seckill_queue::{Adopted, Orphans};
use seckill_sale::{ActivityId, Claim, Delivery, EpochMs, Figures, Ticket};
use seckill_stock::{Answer, Reserved};

use crate::keys::Place;

/// Tickets that a node remembers of a shard at most; the oldest are forgotten first. As many as may wait for settlement by default.
const TICKETS_MAX: usize = 200_000;

#[derive(Default)]
struct Shard {
    /// Epoch of the state that has them, as far as this node knows; 0 before the first reading.
    epoch: u64,
    /// Of the answer that told of them last, by [`Figures::revision`].
    revision: u64,
    /// When the sale was created that they are of, where their state says so.
    created_at: Option<EpochMs>,
    /// By sequence.
    tickets: BTreeMap<u64, Delivery>,
    /// Tickets of older states, which this one may not have: however far it has settled, they are none of its.
    offered: BTreeMap<u64, Delivery>,
}

impl Shard {
    fn is_empty(&self) -> bool {
        self.tickets.is_empty() && self.offered.is_empty()
    }
}

/// What this node remembers of all shards.
#[derive(Default)]
pub(crate) struct Remembered(Mutex<HashMap<Place, Shard>>);

impl Remembered {
    /// Notes who was admitted, by an answer of the state with these figures.
    pub(crate) fn note(&self, place: Place, of: &Figures, claims: &[&Claim], answers: &[Answer]) {
        let admitted = claims.iter().zip(answers);
        let mut admitted = admitted
            .filter_map(|(claim, answer)| Some((claim, answer.as_ref().ok()?)))
            .peekable();
        // One that was asked again is told of its ticket here, perhaps for the first time: its first answer may have been lost.
        if admitted.peek().is_some() {
            self.keep(place, of, admitted.map(|(claim, reserved)| delivery(claim, reserved)));
        }
    }

    /// Notes tickets that the state with these figures has.
    fn keep(&self, place: Place, of: &Figures, tickets: impl Iterator<Item = Delivery>) {
        let mut shards = self.0.lock();
        let shard = shards.entry(place).or_default();
        // An answer that comes when its state was replaced already: all are offered once more, which harms nobody.
        let epoch = of.epoch.get();
        match shard.is_empty() || epoch < shard.epoch {
            true => (shard.epoch, shard.revision) = (epoch, of.revision),
            false if epoch == shard.epoch => shard.revision = shard.revision.max(of.revision),
            false => {}
        }
        shard
            .tickets
            .extend(tickets.map(|delivery| (delivery.ticket.sequence, delivery)));
        while TICKETS_MAX < shard.tickets.len() {
            shard.tickets.pop_first();
        }
    }

    /// Notes that the state with these figures has answered for a ticket that it was offered: it has it, or it is void or final.
    pub(crate) fn answered(&self, place: Place, of: &Figures, ticket: &Delivery, adopted: Adopted) {
        if adopted == Adopted::NoUnit {
            return;
        }
        if adopted == Adopted::Waits {
            let deliveries = 0;
            let kept = Delivery {
                deliveries,
                ..ticket.clone()
            };
            self.keep(place, of, std::iter::once(kept));
        }
        if let Some(shard) = self.0.lock().get_mut(&place) {
            shard.offered.remove(&ticket.ticket.sequence);
        }
    }

    /// Forgets what is settled by a reading of the state that has them.
    pub(crate) fn settled(&self, place: Place, read: &Figures) {
        let mut shards = self.0.lock();
        let Some(shard) = shards.get_mut(&place) else {
            return;
        };
        if shard.epoch == read.epoch.get() && shard.revision <= read.revision {
            shard.tickets = shard.tickets.split_off(&(read.settled_up_to + 1));
        }
        if shard.is_empty() {
            shards.remove(&place);
        }
    }

    /// Forgets one that was made final by hand.
    pub(crate) fn forget(&self, ticket: Ticket) {
        let mut shards = self.0.lock();
        let of_sale = shards.iter_mut().filter(|(place, _)| place.activity == ticket.activity);
        for (_, shard) in of_sale {
            shard.tickets.remove(&ticket.sequence);
            shard.offered.remove(&ticket.sequence);
        }
    }

    /// Notes when the sale was created whose tickets were noted just now.
    pub(crate) fn note_created(&self, place: Place, created_at: Option<EpochMs>) {
        if let (Some(shard), Some(at)) = (self.0.lock().get_mut(&place), created_at) {
            shard.created_at = Some(at);
        }
    }

    /// Forgets tickets of sales that the ledger has lost, whose numbers it gave out again.
    pub(crate) fn drop_others(&self, is_another: impl Fn(ActivityId, Option<EpochMs>) -> bool) {
        self.0.lock().retain(|place, shard| {
            let is_lost = is_another(place.activity, shard.created_at);
            if is_lost {
                let tickets = shard.tickets.len() + shard.offered.len();
                tracing::error!(%place, tickets, "tickets of a sale that the database has lost, and whose number it gave out again, are void");
            }
            !is_lost
        });
    }

    /// Forgets a sale that is over.
    pub(crate) fn forget_sale(&self, activity: ActivityId) {
        self.0.lock().retain(|place, _| place.activity != activity);
    }

    /// Whether a shard's state is of a later epoch than the one that had its tickets.
    pub(crate) fn has_orphans(&self, epoch_of: impl Fn(Place) -> Option<u64>) -> bool {
        let shards = self.0.lock();
        shards
            .iter()
            .any(|(&place, shard)| !shard.is_empty() && epoch_of(place).is_some_and(|epoch| shard.epoch < epoch))
    }

    /// Tickets whose state was replaced since they were offered last, shard by shard. They stay remembered.
    pub(crate) fn orphans(&self, epoch_of: impl Fn(Place) -> Option<u64>) -> Vec<Orphans> {
        let mut orphans = Vec::new();
        for (&place, shard) in self.0.lock().iter_mut() {
            if let Some(epoch) = epoch_of(place).filter(|&epoch| shard.epoch < epoch) {
                (shard.epoch, shard.revision) = (epoch, 0);
                let mut tickets = std::mem::take(&mut shard.tickets);
                shard.offered.append(&mut tickets);
                orphans.push(Orphans {
                    tickets: shard.offered.values().cloned().collect(),
                    created_at: shard.created_at,
                });
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

#[cfg(test)]
mod tests;
