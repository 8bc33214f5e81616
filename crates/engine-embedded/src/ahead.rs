//! Journal space is taken while nobody waits: filling megabytes and syncing them within a rush would hold up everybody in line for one
//! more sync of the disk, and a large one.
//!
//! It begins where less than half of what is wanted is left, and goes on until all of it is there: growing a file is the dear kind of
//! sync, and must not follow every frame.

use std::time::Duration;

use seckill_sale::EpochMs;

use crate::sequencer::Sequencer;
use crate::storage::Storage;

/// Journal bytes that one unit on sale may come to: its claim, and the results of its ticket.
const UNIT_BYTES: u64 = 128;
/// Space to have ahead where little is on sale.
const AHEAD_BYTES_MIN: u64 = 4 << 20;
/// Most that is filled at once: a claim that comes just then waits for it.
const STEP_BYTES_MAX: u64 = 2 << 20;
/// How long a disk that had no space is left alone.
const REFUSED_MS: i64 = 60_000;
/// What is left of the disk: for frames, and for the database beside.
const LEFT_FREE_BYTES: u64 = 256 << 20;

/// Where the taking of space stands.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Whether it has begun, and is not at its end.
    filling: bool,
    /// When the disk had none.
    refused_at: Option<EpochMs>,
}

impl<S: Storage> Sequencer<S> {
    /// Takes a step of the space that the units on sale may need. To be called while nothing waits.
    pub(crate) fn take_space_ahead(&mut self) {
        if !self.wants_space() {
            return;
        }
        let wanted = self.bytes_ahead();
        if self.journal.free_bytes() < LEFT_FREE_BYTES + wanted {
            self.ahead.refused_at = Some(self.shared.clock.now());
            return;
        }
        match self.journal.reserve_ahead(wanted, STEP_BYTES_MAX) {
            Ok(()) => self.ahead.filling = !self.journal.has_room(wanted),
            Err(error) => {
                // Frames find their own space, or say that there is none.
                tracing::debug!(%error, "no space ahead of the journal");
                self.ahead.refused_at = Some(self.shared.clock.now());
                self.tell_if_broken();
            }
        }
    }

    /// How long to sleep without a command where `usual` would do otherwise.
    pub(crate) fn sleep(&self, usual: Duration) -> Duration {
        if self.wants_space() { Duration::ZERO } else { usual }
    }

    fn wants_space(&self) -> bool {
        let now = self.shared.clock.now();
        // Also asked again where the clock went back.
        let is_refused = |at: EpochMs| (0..REFUSED_MS).contains(&now.since(at));
        if self.shared.is_broken() || self.ahead.refused_at.is_some_and(is_refused) {
            return false;
        }
        let wanted = self.bytes_ahead();
        let least = if self.ahead.filling { wanted } else { wanted / 2 };
        !self.journal.has_room(least)
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
