//! What a comparison found, before anything is put right.

use seckill_ledger::LedgerRecord;
use seckill_sale::{Buyer, UserId};

use super::compare::{ledger_side, store_side};
use super::{Difference, DifferenceKind};

/// A buyer on whom both sides differ, as last read.
pub(crate) struct Suspect {
    pub(crate) user: UserId,
    pub(crate) kind: DifferenceKind,
    pub(crate) buyer: Option<Buyer>,
    pub(crate) record: Option<LedgerRecord>,
}

impl Suspect {
    pub(crate) fn difference(&self) -> Difference {
        let ticket = self.buyer.as_ref().map(|buyer| buyer.ticket);
        Difference {
            user: Some(self.user.clone()),
            ticket: ticket.or(self.record.as_ref().map(|record| record.ticket)),
            kind: self.kind,
            store: store_side(self.buyer.as_ref()),
            ledger: ledger_side(self.record.as_ref()),
            fixed: false,
        }
    }
}

/// Units left as the ledger would have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) store: u64,
    pub(crate) ledger: u64,
}

impl Left {
    pub(crate) fn difference(self) -> Option<Difference> {
        let kind = match self.store.cmp(&self.ledger) {
            std::cmp::Ordering::Greater => DifferenceKind::LeftTooHigh,
            std::cmp::Ordering::Less => DifferenceKind::LeftTooLow,
            std::cmp::Ordering::Equal => return None,
        };
        Some(of_sale(
            kind,
            format!("{} left", self.store),
            format!("{} left", self.ledger),
        ))
    }
}

/// Everything that differs.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) suspects: Vec<Suspect>,
    pub(crate) movements: usize,
    pub(crate) left: Option<Left>,
    pub(crate) truncated: bool,
}

impl Found {
    pub(crate) fn differences(&self) -> Vec<Difference> {
        let mut differences: Vec<_> = self.suspects.iter().map(Suspect::difference).collect();
        differences.extend(unapplied(self.movements));
        differences.extend(self.left.and_then(Left::difference));
        differences
    }

    /// Units of tickets that the store counts as sold and the ledger as unsold.
    pub(crate) fn units_lost(&self) -> u64 {
        let lost = self
            .suspects
            .iter()
            .filter(|suspect| suspect.kind == DifferenceKind::RecordMissing);
        lost.filter_map(|suspect| suspect.buyer.as_ref())
            .map(|buyer| buyer.quantity.get())
            .sum()
    }
}

/// A difference of the whole sale.
fn of_sale(kind: DifferenceKind, store: String, ledger: String) -> Difference {
    Difference {
        user: None,
        ticket: None,
        kind,
        store,
        ledger,
        fixed: false,
    }
}

pub(crate) fn unapplied(movements: usize) -> Option<Difference> {
    let ledger = || format!("{movements} movements more");
    (movements != 0).then(|| of_sale(DifferenceKind::MovementsUnapplied, String::new(), ledger()))
}
