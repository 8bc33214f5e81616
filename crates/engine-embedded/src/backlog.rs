//! Room for tickets, as a turn of the sequencer sees it.

use std::collections::BTreeSet;
use std::sync::Arc;

use seckill_sale::{ActivityId, InQueue, Rooms, Sale};

use crate::command::Command;
use crate::state::State;

/// See the module.
#[derive(Debug)]
pub(crate) struct Backlog {
    most: u64,
    /// Sales that admit nobody, whatever room there is.
    held_back: Arc<BTreeSet<ActivityId>>,
    /// Counted when the first claim asks while it may be scarce, and kept up to date from then on.
    rooms: Option<Rooms>,
}

impl Backlog {
    pub(crate) const fn new(most: u64, held_back: Arc<BTreeSet<ActivityId>>) -> Self {
        Self {
            most,
            held_back,
            rooms: None,
        }
    }

    /// Tickets that the queue takes more of this sale.
    pub(crate) fn room(&mut self, sale: &Sale, state: &State) -> u64 {
        if !self.held_back.is_empty() && self.held_back.contains(&sale.terms().activity) {
            return 0;
        }
        if Rooms::is_ample(self.most, state.queued_tickets()) {
            return self.most - state.queued_tickets();
        }
        let count = || Rooms::of(self.most, state.sales().map(|(_, sale)| sale.in_queue()));
        let (rooms, own) = (self.rooms.get_or_insert_with(count), sale.in_queue());
        rooms.room(own).saturating_sub(own.tickets)
    }

    /// A claim was admitted to a sale that stood as `before`.
    pub(crate) fn admitted(&mut self, before: InQueue, activity: ActivityId, state: &State) {
        if let (Some(rooms), Some(sale)) = (&mut self.rooms, state.sale(activity)) {
            rooms.change(before, sale.in_queue());
        }
    }

    /// Whatever is no claim may change any sale.
    pub(crate) fn changes_by(&mut self, command: &Command) {
        if !matches!(command, Command::Claim(..)) {
            self.rooms = None;
        }
    }
}
