//! The emergency brake of a sale: an operator's pause that the store has and the ledger may not have yet.
//!
//! It stands beside the rules, not in them, so handing over the ledger's rules never lifts it. Whoever has written the pause into the ledger
//! lifts it, and only the very hold that was written.

use crate::{EpochMs, Sale, Status};

/// An operator's pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hold {
    /// When the operator asked, by the store's clock.
    pub held_at: EpochMs,
    /// Moment at which the sale goes on, where the operator said so.
    pub resumes_at: Option<EpochMs>,
}

impl Sale {
    /// The pause that the ledger may not have yet; none where there is none.
    #[must_use]
    pub const fn held(&self) -> Option<Hold> {
        self.held
    }

    /// Whether it takes claims at all. Its window is not looked at.
    pub(crate) fn is_open(&self) -> bool {
        self.terms.status == Status::Running && self.held.is_none()
    }
}
