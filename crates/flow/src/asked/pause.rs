//! One pause, and what the store's states tell of it.

use seckill_ledger::Context;
use seckill_sale::{Epoch, Hold};
use seckill_stock::Standing;

use super::Shown;

/// One of them.
#[derive(Clone)]
pub(crate) struct Pause {
    pub(super) hold: Hold,
    /// None where nobody knows who asked: another process did.
    pub(super) context: Option<Context>,
    pub(super) told: Told,
    /// The ledger has it, or a later word of the operator.
    pub(super) is_in_ledger: bool,
    /// None before the store showed it.
    seen: Option<Seen>,
}

/// Where and when the store showed it.
#[derive(Clone, Copy)]
struct Seen {
    /// The newest state that did.
    epoch: Epoch,
    /// Changes of the row when it was seen first.
    row_changes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The store is asked, or has said that it holds the sale: what it shows counts.
    Answered,
    /// The store has not answered, or has lost it; it may hold the sale now, or when its disk is back. This process lets nobody in meanwhile.
    Unanswered,
    /// It is over; a store that has not heard of that may hold the sale for a moment still.
    Ended,
    /// It is over, and the store has heard so.
    Over,
}

impl Pause {
    pub(super) const fn new(hold: Hold, context: Option<Context>, told: Told) -> Self {
        Self {
            hold,
            context,
            told,
            is_in_ledger: false,
            seen: None,
        }
    }

    /// One that somebody else asked for.
    pub(super) fn seen(hold: Hold, epoch: Epoch, row_changes: Option<u64>) -> Self {
        let mut pause = Self::new(hold, None, Told::Answered);
        pause.seen = Some(Seen { epoch, row_changes });
        pause
    }

    /// How the store was asked to hold the sale.
    pub(crate) const fn hold(&self) -> Hold {
        self.hold
    }

    /// Whether a pause that the store shows is another, later one.
    pub(super) fn gives_way_to(&self, shown: Hold) -> bool {
        let is_done_with = match self.told {
            Told::Answered => self.seen.is_some(),
            Told::Over => true,
            // Its own word about what the store shows is still to come.
            Told::Unanswered | Told::Ended => false,
        };
        is_done_with && shown != self.hold
    }

    /// Takes up what the store shows. Whether it has lost the pause: a later state has it not, and the ledger's row is as it was.
    pub(super) fn look(&mut self, Shown { state, row_changes }: Shown) -> bool {
        let Some(Standing { epoch, hold: held, .. }) = state else {
            return false;
        };
        let is_shown = held == Some(self.hold);
        match (self.told, self.seen) {
            (Told::Answered | Told::Unanswered, seen) if is_shown => {
                self.told = Told::Answered;
                self.seen = Some(Seen {
                    epoch,
                    row_changes: seen.map_or(row_changes, |seen| seen.row_changes),
                });
                false
            }
            (Told::Answered, Some(seen)) if held.is_none() && seen.epoch <= epoch => {
                let is_written = self.is_in_ledger || seen.row_changes.is_none() || seen.row_changes != row_changes;
                let is_lost = seen.epoch < epoch && !is_written;
                self.told = if is_lost { Told::Unanswered } else { Told::Over };
                self.seen = None;
                is_lost
            }
            _ => false,
        }
    }

    /// How the sale is held, where the store shows this.
    pub(super) fn in_force(&self, shown: Option<Standing>) -> Option<Hold> {
        match (self.told, shown) {
            (Told::Unanswered, _) => Some(self.hold),
            // A state that is lost has released nothing.
            (Told::Answered, None) => self.seen.map(|_| self.hold),
            (Told::Answered, Some(state)) => state.hold,
            (Told::Over, Some(state)) => state.hold.filter(|hold| *hold != self.hold),
            (Told::Ended, _) | (Told::Over, None) => None,
        }
    }
}
