//! What lets in no more buyers than what was set last does: what waits for its turn, here and at other nodes, what the store was seen to keep,
//! and a row that can't be read.

use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::StoredSwitches;

use crate::error::Error;
use crate::state::Console;
use crate::switches::brakes::Brakes;
use crate::switches::foreign::brakes_of;
use crate::switches::kept::Kept;
use crate::switches::patched;

/// A patch that waits for its turn, tightening until it is dropped.
pub(in crate::switches) struct Tightening<'a> {
    console: &'a Console,
    number: u64,
}

impl Drop for Tightening<'_> {
    fn drop(&mut self) {
        let mut in_force = self.console.in_force.lock();
        in_force.waiting.retain(|(number, _)| *number != self.number);
        in_force.show(self.console);
    }
}

/// Puts in force what the patch tightens, before it has its turn.
///
/// # Errors
/// What the patch itself has wrong.
pub(in crate::switches) fn tighten_at_once<'a>(
    console: &'a Console,
    patch: &SwitchesPatch,
) -> Result<Tightening<'a>, Error> {
    let mut in_force = console.in_force.lock();
    patched(&in_force.settled, patch)?;
    in_force.last_number += 1;
    let number = in_force.last_number;
    in_force.waiting.push((number, patch.clone()));
    in_force.show(console);
    Ok(Tightening { console, number })
}

/// How far what waits for its turn here keeps buyers out, until it goes back.
pub(in crate::switches) fn waiting_here(console: &Console) -> Brakes {
    let (in_force, now) = (console.in_force.lock(), console.now());
    let patches = in_force.waiting.iter().map(|(_, patch)| patch);
    let lasting = patches.filter(|patch| patch.until.is_none_or(|until| now < until));
    lasting.fold(Brakes::RELEASED, |all, patch| all.and(Brakes::named(&patch.members)))
}

/// Lets no more buyers in than what waits at other nodes does, until told otherwise: by what was obeyed before it becomes.
pub(in crate::switches) fn tighten_by_others(console: &Console, waiting: impl FnOnce(Brakes) -> Brakes) {
    let mut in_force = console.in_force.lock();
    in_force.of_others = waiting(in_force.of_others);
    in_force.show(console);
}

/// Whether something waited at another node when they were heard of last.
pub(in crate::switches) fn waits_elsewhere(console: &Console) -> bool {
    console.in_force.lock().of_others != Brakes::RELEASED
}

/// Lets no more buyers in than a row does that can't be read here; none: it can.
pub(in crate::switches) fn tighten_by_unread(console: &Console, row: Option<&StoredSwitches>) {
    let mut in_force = console.in_force.lock();
    in_force.unread = row.map_or(Brakes::RELEASED, |row| brakes_of(&row.json));
    in_force.show(console);
}

/// Lets no more buyers in than these do, until told otherwise.
pub(in crate::switches) fn tighten_by(console: &Console, watched: Option<(u64, Switches)>) {
    let mut in_force = console.in_force.lock();
    in_force.watched = watched;
    in_force.show(console);
}

/// Whether the store was told of these after this node read or wrote its row: they are another one, of whichever revision, since a ledger that
/// was restored has earlier ones; but not the one that the store had before.
pub(in crate::switches) fn came_after_row(console: &Console, kept: &Kept) -> bool {
    let mut in_force = console.in_force.lock();
    let is_outdated = in_force.outdated.as_ref().is_some_and(|copy| copy.share_row(kept));
    if !is_outdated {
        in_force.outdated = None;
    }
    !is_outdated && in_force.row.as_ref().is_none_or(|row| !kept.stand_on(row))
}
