//! The switches in force on this node: those that were set last, tightened by every patch that waits for its turn.
//!
//! A patch may wait long, for those before it and for a database. What it tightens does not wait with it: it is in force from the moment
//! it comes until it is carried out or refused, whatever others put in force meanwhile. What it loosens waits.

use seckill_gate::{Limits, Switches, SwitchesPatch};
use seckill_sale::{Challenge, EpochMs};

use super::patched;
use super::tightened::tightened;
use crate::error::Error;
use crate::state::Console;

/// Changes in force between two revisions of the ledger, at the most. The gate counts both: its revision is the ledger's times this, plus
/// one for every change that the ledger has not got yet.
const CHANGES_A_REVISION: u64 = 1 << 20;

/// What is in force, before the gate.
pub(crate) struct InForce {
    settled: Switches,
    /// Patches that wait for their turn, in the order in which they came; as many as there may be commands under way.
    waiting: Vec<(u64, SwitchesPatch)>,
    last_number: u64,
}

impl InForce {
    pub(crate) const fn new(settled: Switches) -> Self {
        Self {
            settled,
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
        self.waiting.iter().fold(self.settled.at(now), tighten)
    }

    /// Shows gate and store what is in force.
    fn show(&self, console: &Console, revision_min: u64) {
        let before = console.gate.switches();
        let revision = revision_min.max(before.revision + 1);
        let sales = console.gate.catalogue().all();
        let used: Vec<_> = sales.values().map(|sale| sale.challenge).collect();
        let switches = Switches {
            revision,
            ..self.tightened(console.gate.limits_of_settings(), &used, console.now())
        };
        let unchanged = Switches {
            revision: before.revision,
            ..switches.clone()
        };
        if revision_min <= before.revision && unchanged == *before {
            return;
        }
        if console.gate.switch(switches) {
            console.stock().set_backlog_max(console.gate.switches().backlog_max);
        }
    }
}

/// A patch that waits for its turn, tightening until it is dropped.
pub(super) struct Tightening<'a> {
    console: &'a Console,
    number: u64,
}

impl Drop for Tightening<'_> {
    fn drop(&mut self) {
        let mut in_force = self.console.in_force.lock();
        in_force.waiting.retain(|(number, _)| *number != self.number);
        in_force.show(self.console, 0);
    }
}

/// Puts in force what the patch tightens, before it has its turn.
///
/// # Errors
/// What the patch itself has wrong.
pub(super) fn tighten_at_once<'a>(console: &'a Console, patch: &SwitchesPatch) -> Result<Tightening<'a>, Error> {
    let mut in_force = console.in_force.lock();
    patched(&in_force.settled, patch)?;
    in_force.last_number += 1;
    let number = in_force.last_number;
    in_force.waiting.push((number, patch.clone()));
    in_force.show(console, 0);
    Ok(Tightening { console, number })
}

/// The switches as they were set last, without what waits for its turn, and with what has gone back since as it was before that.
pub(super) fn settled(console: &Console) -> Switches {
    console.in_force.lock().settled.clone()
}

/// The ledger's revision that is in force here.
pub(super) fn revision(console: &Console) -> u64 {
    console.gate.switches().revision / CHANGES_A_REVISION
}

/// Puts in force what stands in the ledger's revision.
pub(super) fn put_in_force_of(console: &Console, switches: &Switches, revision: u64) {
    put(console, switches, revision * CHANGES_A_REVISION);
}

/// Puts in force what the ledger has not got yet.
pub(super) fn put_in_force(console: &Console, switches: &Switches) {
    put(console, switches, 0);
}

/// Puts in force, whatever was before. To be called by one at a time.
fn put(console: &Console, switches: &Switches, revision_min: u64) {
    let mut in_force = console.in_force.lock();
    in_force.settled = switches.clone();
    in_force.show(console, revision_min);
}

#[cfg(test)]
#[path = "in_force_tests.rs"]
mod tests;
