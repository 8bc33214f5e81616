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
use seckill_queue::Adopted;
use seckill_sale::{ActivityId, Claim, Delivery, Figures, Ticket};
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

    /// Tickets whose state was replaced since they were offered last. They stay remembered.
    pub(crate) fn orphans(&self, epoch_of: impl Fn(Place) -> Option<u64>) -> Vec<Delivery> {
        let mut orphans = Vec::new();
        for (&place, shard) in self.0.lock().iter_mut() {
            if let Some(epoch) = epoch_of(place).filter(|&epoch| shard.epoch < epoch) {
                (shard.epoch, shard.revision) = (epoch, 0);
                let mut tickets = std::mem::take(&mut shard.tickets);
                shard.offered.append(&mut tickets);
                orphans.extend(shard.offered.values().cloned());
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
mod tests {
    use seckill_sale::{Epoch, EpochMs, Quantity, RequestId, RequestKey, UserId};

    use super::*;

    fn figures(epoch: u64, revision: u64, settled_up_to: u64) -> Figures {
        Figures {
            epoch: Epoch::new(epoch).expect("in range"),
            stock_left: 5,
            accepted: 0,
            queued: 0,
            dead: 0,
            queued_tickets: 0,
            leased_tickets: 0,
            settled_up_to,
            dead_tickets: 0,
            oldest_accepted_at: None,
            applied_movement: 0,
            next_sequence: settled_up_to + 1,
            revision,
        }
    }

    fn ticket(activity: ActivityId, sequence: u64) -> Delivery {
        Delivery {
            ticket: Ticket {
                activity,
                epoch: Epoch::FIRST,
                sequence,
            },
            user: UserId::new("a").expect("valid"),
            quantity: Quantity::ONE,
            key: RequestKey([0; 16]),
            accepted_at: EpochMs(0),
            request_id: RequestId::from_bits(1),
            attempts: 0,
            deliveries: 0,
        }
    }

    /// A reading that was on its way when the ticket was adopted knows nothing of it, and nothing waits in it.
    #[test]
    fn a_reading_from_before_a_ticket_was_adopted_does_not_settle_it() {
        let activity = ActivityId::new(7).expect("in range");
        let place = Place::whole(activity);
        let remembered = Remembered::default();
        let adopted = figures(2, 4, 6);
        remembered.answered(place, &adopted, &ticket(activity, 7), Adopted::Waits);
        remembered.settled(place, &figures(2, 3, 1_000_000_000));
        assert_eq!(
            remembered.orphans(|_| Some(3)).len(),
            1,
            "its state is lost: it is offered"
        );
        remembered.answered(place, &figures(3, 1, 6), &ticket(activity, 7), Adopted::Waits);
        remembered.settled(place, &figures(3, 2, 2_000_000_000));
        assert_eq!(remembered.orphans(|_| Some(4)), [], "it is settled");
    }
}
