//! Gives a sale whose journal was cut a state from the ledger, in place of the one that is behind it.
//!
//! What the ledger knows counts. Waiting tickets that only the store has are taken over, where their numbers and units are still free;
//! the others are named. What only the lost part of the journal knew, nobody knows.

use std::collections::HashSet;

use seckill_sale::{ActivityId, Figures, Restored, Ticket, TicketState};

use crate::instead::Instead;
use crate::known::Known;
use crate::{Error, Operator, Preheated};

/// A state that is to be given up, and what it knows.
pub(crate) struct Old {
    pub(crate) figures: Figures,
    /// In the order of their tickets.
    pub(crate) buyers: Vec<Restored>,
}

/// Why a ticket does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Its number is another buyer's in the ledger.
    NumberTaken,
    /// No unit is left for it.
    NoUnit,
}

/// What becomes of tickets that the ledger does not know.
#[derive(Default)]
pub(crate) struct TakenOver {
    /// They go on.
    pub(crate) kept: Vec<Restored>,
    /// They do not.
    pub(crate) lost: Vec<(Restored, Why)>,
    /// Units of those that go on and are not failed.
    pub(crate) units: u64,
}

impl TakenOver {
    /// Those that do not go on, as `T7-1-3 of alice`.
    pub(crate) fn lost_names(&self, id: ActivityId) -> Vec<String> {
        let name = |(buyer, _): &(Restored, Why)| format!("{} of {}", ticket_of(id, buyer), buyer.user);
        self.lost.iter().map(name).collect()
    }
}

pub(crate) const fn ticket_of(activity: ActivityId, buyer: &Restored) -> Ticket {
    Ticket {
        activity,
        epoch: buyer.epoch,
        sequence: buyer.sequence,
    }
}

/// What of a state's buyers goes on beside what the ledger knows, with `left` units that the ledger has promised nobody. Oldest first.
pub(crate) fn beside(buyers: &[Restored], known: &Known, left: u64) -> TakenOver {
    let users: HashSet<_> = known.buyers.iter().map(|buyer| &buyer.user).collect();
    let sequences: HashSet<_> = known.buyers.iter().map(|buyer| buyer.sequence).collect();
    let mut taken = TakenOver::default();
    for buyer in buyers.iter().filter(|buyer| !users.contains(&buyer.user)) {
        let is_failed = matches!(buyer.state, TicketState::Failed(_));
        let units = if is_failed { 0 } else { buyer.quantity.get() };
        if sequences.contains(&buyer.sequence) {
            taken.lost.push((buyer.clone(), Why::NumberTaken));
        } else if left < taken.units + units {
            taken.lost.push((buyer.clone(), Why::NoUnit));
        } else {
            taken.units += units;
            taken.kept.push(Restored {
                // Whatever the store had come to, the ledger has not: it is settled again, under the same number.
                state: if is_failed { buyer.state } else { TicketState::Queued },
                dead_reason: String::new(),
                ..buyer.clone()
            });
        }
    }
    taken
}

impl Operator {
    /// The state of a sale, to be given up.
    pub(crate) async fn old(&self, id: ActivityId) -> Result<Old, Error> {
        let figures = self.layers.stock.figures(id).await?.ok_or(Error::NoState)?;
        let (mut buyers, mut page) = (Vec::new(), 0);
        while let Some(part) = self.layers.stock.buyers_page(id, page).await? {
            buyers.extend(part.into_iter().map(Restored::from));
            page += 1;
        }
        buyers.sort_unstable_by_key(|buyer: &Restored| buyer.sequence);
        // A page may tell one again, whose units are counted once.
        buyers.dedup_by_key(|buyer| buyer.sequence);
        Ok(Old { figures, buyers })
    }

    /// What [`Operator::renew`] would take over. Only reads.
    pub(crate) async fn would_take_over(&self, id: ActivityId) -> Result<TakenOver, Error> {
        let old = self.old(id).await?;
        let known = self.known(id).await?;
        let available = self.layers.ledger.tally(id).await?.available;
        Ok(beside(&old.buyers, &known, available.saturating_sub(known.units_dead)))
    }

    /// Builds the state anew from the ledger, under an epoch that neither has seen.
    pub(crate) async fn renew(&self, id: ActivityId) -> Result<Preheated, Error> {
        let old = self.old(id).await?;
        self.build(id, self.own_context(), &Instead::Of(old)).await
    }
}
