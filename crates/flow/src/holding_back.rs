//! When a node admits nobody to a sale since too many of its tickets wait for their order, or one of them for too long, and when it does again.
//!
//! ```text
//!            claims hear that the backlog is full, or the oldest is too old twice in a row
//! admits ───────────────────────────────────────────────────────────────────────────────────▶ holds back
//!    ◀─────────────────────────────────────────────────────────────────────────────────────────────┘
//!            fewer wait than at which admissions begin again, and the oldest is young
//! ```
//! Each sale is held back for its own tickets alone, within its part of the room ([`Rooms`]). Pure: it is fed with what was read, by whoever
//! has a timer, and says what it comes to.

use std::collections::{BTreeSet, HashMap};

use seckill_sale::{ActivityId, InQueue, Rooms};

/// What the switches say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BacklogLimits {
    /// Tickets that may wait.
    pub max: u64,
    /// Admissions begin again below it; at most `max`.
    pub resume: u64,
    /// How long the oldest may wait, in milliseconds; 0: for ever.
    pub oldest_max_ms: i64,
}

impl BacklogLimits {
    /// The same of a sale that has a part of the room.
    fn within(self, room: u64) -> Self {
        let part = u128::from(room) * u128::from(self.resume) / u128::from(self.max.max(1));
        let resume = u64::try_from(part).unwrap_or(u64::MAX);
        Self {
            max: room,
            resume: resume.max(u64::from(0 < room)),
            ..self
        }
    }
}

/// One look at a sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BacklogReading {
    /// The sale.
    pub activity: ActivityId,
    /// Its tickets that wait, and its units.
    pub in_queue: InQueue,
    /// How long the oldest has waited, in milliseconds.
    pub oldest_ms: i64,
    /// Whether a claim heard since the last look that the backlog is full. While orders are written the queue is never seen full: there is
    /// room for a moment again and again.
    pub was_full: bool,
}

/// Which sales a node holds back.
#[derive(Debug, Default)]
pub struct HeldBack(HashMap<ActivityId, HoldingBack>);

impl HeldBack {
    /// Sales to which nobody is admitted after this look, at every sale that there is. In either state the limits are those that hold now.
    pub fn look(&mut self, limits: BacklogLimits, sales: &[BacklogReading]) -> BTreeSet<ActivityId> {
        let rooms = Rooms::of(limits.max, sales.iter().map(|sale| sale.in_queue));
        let before = std::mem::take(&mut self.0);
        let look = |reading: &BacklogReading| {
            let mut holding = before.get(&reading.activity).copied().unwrap_or_default();
            holding.look(limits.within(rooms.room(reading.in_queue)), reading);
            (reading.activity, holding)
        };
        self.0.extend(sales.iter().map(look));
        let held = self.0.iter().filter(|(_, holding)| holding.holds);
        held.map(|(activity, _)| *activity).collect()
    }
}

/// Whether a sale is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct HoldingBack {
    holds: bool,
    /// Whether the oldest was too old at the last look: a ticket that waits for a worker that begins just now is old for one look.
    was_old: bool,
}

impl HoldingBack {
    fn look(&mut self, limits: BacklogLimits, reading: &BacklogReading) {
        let tickets = reading.in_queue.tickets;
        let waits = 0 < tickets && limits.oldest_max_ms != 0;
        let is_old = waits && limits.oldest_max_ms < reading.oldest_ms;
        let is_young = !waits || reading.oldest_ms <= limits.oldest_max_ms / 5 * 4;
        self.holds = if self.holds {
            // What claims hear meanwhile comes of the holding back itself.
            !(tickets < limits.resume && is_young)
        } else {
            let is_full = limits.max <= tickets || (reading.was_full && limits.resume <= tickets);
            is_full || (is_old && self.was_old)
        };
        self.was_old = is_old;
    }
}

#[cfg(test)]
#[path = "holding_back_tests.rs"]
mod tests;
