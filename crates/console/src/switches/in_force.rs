//! The switches in force on this node: those that were set last, tightened by every patch that waits for its turn.
//!
//! ```text
//! row      the ledger's revision and text, as this node read or wrote them last, or as others left a copy of them in the store
//! settled  what was set last; see below
//! watched  what the store was seen to keep since, where it is not this row: it tightens, and nothing more
//! others'  what waits for its turn at other nodes: it tightens, too
//! gate     settled, at this moment and tightened; its revision counts what this gate was shown, and is never held against the ledger's
//!
//! settled is …  since                                         until
//! the row's     the row was read or written, or, where the    another row is read: taken over; a brake, here or at another node
//!               ledger can't be asked, its copy was
//! ours          a brake here that the ledger does not take    the ledger has it: as it is where its row is still the one that the brake
//!               in time: in force, and told to the store      stands on, else the stricter of both, but for what was opened since
//! theirs        the store was seen to keep a brake of         the same; or it is kept no more: the row's
//!               another node, or one from before a restart
//! ```
//!
//! Another row is one that differs, whichever way: a ledger that was restored from an older copy has an earlier revision, or none, or by
//! now the same revision with other switches. It is followed like one that an operator has changed.
//!
//! A patch may wait long, for those before it and for a database. What it tightens does not wait with it: it is in force from the moment
//! it comes until it is carried out or refused, whatever others put in force meanwhile. What it loosens waits.

mod tightening;

use std::sync::Arc;

use seckill_gate::{Limits, Switches, SwitchesPatch};
use seckill_ledger::StoredSwitches;
use seckill_sale::{Challenge, EpochMs};

use super::brakes::Brakes;
use super::keeping::seen_copy;
use super::kept::Kept;
use super::tightened::tightened;
use crate::state::Console;

pub(super) use tightening::{
    came_after_row, tighten_at_once, tighten_by, tighten_by_others, tighten_by_unread, waiting_here, waits_elsewhere,
};

/// What is in force, before the gate.
pub(crate) struct InForce {
    /// The ledger's row as it was read or written last; none before that.
    row: Option<StoredSwitches>,
    settled: Switches,
    /// Whether they are what that row says; else they go when nothing is kept any more.
    are_of_row: bool,
    /// What the store was last seen to keep, where that came after the row; before it the revision on which it stands.
    watched: Option<(u64, Switches)>,
    /// The copy of an earlier row that the store had when this one came, and may have for a moment more.
    outdated: Option<Kept>,
    /// What waits at other nodes, as was heard last.
    of_others: Brakes,
    /// How far a later row keeps buyers out that can't be read here.
    unread: Brakes,
    /// Patches that wait for their turn, in the order in which they came; as many as there may be commands under way.
    waiting: Vec<(u64, SwitchesPatch)>,
    last_number: u64,
}

impl InForce {
    pub(crate) const fn new(settled: Switches) -> Self {
        Self {
            row: None,
            settled,
            are_of_row: false,
            watched: None,
            outdated: None,
            of_others: Brakes::RELEASED,
            unread: Brakes::RELEASED,
            waiting: Vec::new(),
            last_number: 0,
        }
    }

    /// `used`: what sales ask for by themselves.
    fn tightened(&self, settings: Limits, used: &[Challenge], now: EpochMs) -> Switches {
        let tighten = |present: Switches, (_, patch): &(u64, SwitchesPatch)| match present.patched(patch) {
            Ok(wanted) => tightened(&present, &wanted, &patch.members, settings, used),
            Err(_) => present,
        };
        let settled = self.waiting.iter().fold(self.settled.at(now), tighten);
        let watched = self.watched.as_ref().map(|(_, watched)| Brakes::of(&watched.at(now)));
        self.of_others
            .and(self.unread)
            .and(watched.unwrap_or_default())
            .on(settled)
    }

    /// Whether the ledger's row is to be taken over where nothing is kept: it is another one than the last, of a later or an earlier revision,
    /// or of the same with another text; or what is in force was kept, and is so no more.
    fn is_news(&self, row: &StoredSwitches) -> bool {
        !self.are_of_row || self.row.as_ref() != Some(row)
    }

    fn revision(&self) -> u64 {
        self.row.as_ref().map_or(0, |row| row.revision)
    }

    fn settle(&mut self, console: &Console, switches: &Switches, are_of_row: bool) {
        self.settled = switches.clone();
        self.are_of_row = are_of_row;
        self.show(console);
    }

    /// Shows gate and store what is in force.
    fn show(&self, console: &Console) {
        let before = console.gate.switches();
        let sales = console.gate.catalogue().all();
        let used: Vec<_> = sales.values().map(|sale| sale.challenge).collect();
        let mut switches = self.tightened(console.gate.limits_of_settings(), &used, console.now());
        switches.revision = before.revision;
        if switches == *before {
            return;
        }
        switches.revision += 1;
        if console.gate.switch(switches) {
            console.stock().set_backlog_max(console.gate.switches().backlog_max);
        }
    }
}

/// The switches as they were set last, without what waits for its turn, and with what has gone back since as it was before that.
pub(super) fn settled(console: &Console) -> Switches {
    console.in_force.lock().settled.clone()
}

/// The ledger's row as this node read or wrote it last; none before that.
pub(super) fn row(console: &Console) -> Option<StoredSwitches> {
    console.in_force.lock().row.clone()
}

/// The ledger's revision that this node follows; 0 where nobody has set switches.
pub(super) fn revision(console: &Console) -> u64 {
    console.in_force.lock().revision()
}

/// What is in force at the gate, and the ledger's revision that this node follows.
pub(super) fn in_force(console: &Console) -> (Arc<Switches>, u64) {
    let in_force = console.in_force.lock();
    (console.gate.switches(), in_force.revision())
}

/// Whether the ledger's row is to be taken over where nothing is kept for it.
pub(super) fn is_news(console: &Console, row: &StoredSwitches) -> bool {
    console.in_force.lock().is_news(row)
}

/// Puts in force what stands in the ledger's row, and in what was kept for it. To be called by one at a time.
pub(super) fn put_in_force_of(console: &Console, switches: &Switches, row: StoredSwitches) {
    let outdated = seen_copy(console).filter(|copy| !copy.stand_on(&row));
    let mut in_force = console.in_force.lock();
    (in_force.outdated, in_force.unread) = (outdated, Brakes::RELEASED);
    // What was seen before that row was written is over with it; what is kept still is seen again.
    in_force.watched.take_if(|(base, _)| *base <= row.revision);
    in_force.row = Some(row);
    in_force.settle(console, switches, true);
}

/// Puts in force what this node has not told the ledger yet. To be called by one at a time.
pub(super) fn put_in_force(console: &Console, switches: &Switches) {
    console.in_force.lock().settle(console, switches, false);
}

/// Puts in force what the store keeps for the ledger, unless it is. To be called by one at a time.
pub(super) fn put_in_force_kept(console: &Console, switches: &Switches) {
    let mut in_force = console.in_force.lock();
    let revision = in_force.settled.revision;
    let is_in_force = Switches {
        revision,
        ..switches.clone()
    } == in_force.settled;
    if !is_in_force {
        in_force.settle(console, switches, false);
    }
}

/// A copy of the ledger's row, for the store; none where it has none, or something else is in force.
pub(super) fn copy_of_row(console: &Console) -> Option<Kept> {
    let in_force = console.in_force.lock();
    let row = in_force.row.as_ref().filter(|_| in_force.are_of_row)?;
    Kept::copy_of(row, &in_force.settled)
}

#[cfg(test)]
#[path = "in_force_tests.rs"]
mod tests;
