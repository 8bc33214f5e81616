//! Journal space is taken while nobody waits: filling megabytes and syncing them within a rush would hold up everybody in line for one
//! more sync of the disk, and a large one.

use std::time::Duration;

use crate::sequencer::Sequencer;
use crate::storage::Storage;

/// Journal bytes that one unit on sale may come to: its claim, and the results of its ticket.
const UNIT_BYTES: u64 = 128;
/// Space to have ahead where little is on sale.
const AHEAD_BYTES_MIN: u64 = 4 << 20;
/// Most that is filled at once: a claim that comes just then waits for it.
const STEP_BYTES_MAX: u64 = 2 << 20;

/// Space that is wanted and was refused is asked for again only after a sleep.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    refused: bool,
}

impl<S: Storage> Sequencer<S> {
    /// Takes a step of the space that the units on sale may need. To be called while nothing waits.
    pub(crate) fn take_space_ahead(&mut self) {
        let taken = self.journal.reserve_ahead(self.bytes_ahead(), STEP_BYTES_MAX);
        self.ahead.refused = taken.is_err();
        if let Err(error) = taken {
            // Frames find their own space, or say that there is none.
            tracing::debug!(%error, "no space ahead of the journal");
        }
    }

    /// How long to sleep without a command where `usual` would do otherwise.
    pub(crate) fn sleep(&self, usual: Duration) -> Duration {
        let wanted = !self.ahead.refused && !self.journal.has_room(self.bytes_ahead());
        if wanted { Duration::ZERO } else { usual }
    }

    fn bytes_ahead(&self) -> u64 {
        let on_sale = self.state.sales().map(|(_, sale)| sale.view());
        let units: u64 = on_sale
            .filter(|view| view.is_open())
            .map(|view| view.stock_left())
            .sum();
        let wanted = units.saturating_mul(UNIT_BYTES).max(AHEAD_BYTES_MIN);
        wanted.min(self.journal.bytes_ahead_max())
    }
}
