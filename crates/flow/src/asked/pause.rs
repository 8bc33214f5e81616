//! One pause, and what the store's states tell of it.

use seckill_ledger::Context;
use seckill_sale::{Epoch, Hold};
use seckill_stock::Standing;

/// One of them.
#[derive(Clone)]
pub(crate) struct Pause {
    pub(super) hold: Hold,
    /// None where nobody knows who asked: another process did.
    pub(super) context: Option<Context>,
    pub(super) told: Told,
    /// The ledger has it, or a later word of the operator.
    pub(super) is_in_ledger: bool,
    /// The epoch of the newest state that showed it; none before one did.
    seen: Option<Epoch>,
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
    pub(super) fn seen(hold: Hold, epoch: Epoch) -> Self {
        let mut pause = Self::new(hold, None, Told::Answered);
        pause.seen = Some(epoch);
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

    /// Takes up what the store shows. Whether it may have lost the pause: a later state has it not. The ledger knows whether it is over: one that
    /// is written behind a later word comes to nothing.
    pub(super) fn look(&mut self, state: Option<Standing>) -> bool {
        let Some(Standing { epoch, hold, .. }) = state else {
            return false;
        };
        match (self.told, self.seen) {
            (Told::Answered | Told::Unanswered, _) if hold == Some(self.hold) => {
                (self.told, self.seen) = (Told::Answered, Some(epoch));
                false
            }
            (Told::Answered, Some(seen)) if hold.is_none() && seen <= epoch => {
                let is_lost = seen < epoch && !self.is_in_ledger;
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
