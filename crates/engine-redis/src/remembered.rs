//! Admissions of this node that are not settled yet: what it can still tell when their state is lost.
//!
//! ```text
//! admitted ──settled, as the sale's last reading says──▶ forgotten
//!    └──the sale has a state of a later epoch──▶ orphan: told once for each such epoch, to be offered to it
//! ```
//! They cost memory and no IO. A node that dies forgets them, so this narrows what a lost state costs, and promises nothing.

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use seckill_sale::{ActivityId, Claim, Delivery, Epoch, Ticket};
use seckill_stock::{Answer, Reserved};

use crate::summary::Summary;

/// Tickets that a node remembers of a sale at most; the oldest are forgotten first. As many as may wait for settlement by default.
const TICKETS_MAX: usize = 200_000;

#[derive(Default)]
struct Sale {
    /// Epoch of the state that has them, as far as this node knows; 0 before the first reading.
    epoch: u64,
    /// By sequence.
    tickets: BTreeMap<u64, Delivery>,
}

/// What this node remembers of all sales.
#[derive(Default)]
pub(crate) struct Remembered(Mutex<HashMap<ActivityId, Sale>>);

impl Remembered {
    /// Notes who was admitted, in the state of `epoch`.
    pub(crate) fn note(&self, activity: ActivityId, epoch: Epoch, claims: &[&Claim], answers: &[Answer]) {
        let admitted = claims.iter().zip(answers);
        let mut admitted = admitted
            .filter_map(|(claim, answer)| Some((claim, answer.as_ref().ok()?)))
            .peekable();
        if admitted.peek().is_none() {
            return;
        }
        let mut sales = self.0.lock();
        let sale = sales.entry(activity).or_default();
        if sale.tickets.is_empty() {
            sale.epoch = epoch.get();
        }
        for (claim, reserved) in admitted.filter(|(_, reserved)| !reserved.replayed) {
            sale.tickets.insert(reserved.ticket.sequence, delivery(claim, reserved));
        }
        while TICKETS_MAX < sale.tickets.len() {
            sale.tickets.pop_first();
        }
    }

    /// Forgets what is settled by a reading of the state that has them.
    pub(crate) fn settled(&self, activity: ActivityId, summary: &Summary) {
        let mut sales = self.0.lock();
        let Some(sale) = sales.get_mut(&activity) else {
            return;
        };
        if sale.epoch == summary.figures.epoch.get() {
            sale.tickets = sale.tickets.split_off(&(summary.figures.settled_up_to + 1));
        }
        if sale.tickets.is_empty() {
            sales.remove(&activity);
        }
    }

    /// Forgets one that was made final by hand.
    pub(crate) fn forget(&self, ticket: Ticket) {
        if let Some(sale) = self.0.lock().get_mut(&ticket.activity) {
            sale.tickets.remove(&ticket.sequence);
        }
    }

    /// Whether the sale's state is of a later epoch than the one that had its tickets.
    pub(crate) fn has_orphans(&self, epoch_of: impl Fn(ActivityId) -> Option<u64>) -> bool {
        let sales = self.0.lock();
        sales
            .iter()
            .any(|(&activity, sale)| epoch_of(activity).is_some_and(|epoch| sale.epoch < epoch))
    }

    /// Tickets whose state was replaced since they were told last. They stay remembered, as those of the present state.
    pub(crate) fn orphans(&self, epoch_of: impl Fn(ActivityId) -> Option<u64>) -> Vec<Delivery> {
        let mut orphans = Vec::new();
        for (&activity, sale) in self.0.lock().iter_mut() {
            if let Some(epoch) = epoch_of(activity).filter(|&epoch| sale.epoch < epoch) {
                sale.epoch = epoch;
                orphans.extend(sale.tickets.values().cloned());
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
