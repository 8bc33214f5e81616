//! The switches in force on this node: those that were set last, tightened by every patch that waits for its turn.
//!
//! A patch may wait long, for those before it and for a database. What it tightens does not wait with it: it is in force from the moment
//! it comes until it is carried out or refused, whatever others put in force meanwhile. What it loosens waits.

use seckill_gate::{Limits, Members, Switches, SwitchesPatch};
use seckill_sale::{Challenge, EpochMs};

use super::patched;
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

    fn tightened(&self, settings: Limits, now: EpochMs) -> Switches {
        let tighten = |present: Switches, (_, patch): &(u64, SwitchesPatch)| match present.patched(patch) {
            Ok(wanted) => tightened(&present, &wanted, &patch.members, settings),
            Err(_) => present,
        };
        self.waiting.iter().fold(self.settled.at(now), tighten)
    }

    /// Shows gate and store what is in force.
    fn show(&self, console: &Console, revision_min: u64) {
        let before = console.gate.switches();
        let revision = revision_min.max(before.revision + 1);
        let switches = Switches {
            revision,
            ..self.tightened(console.gate.limits_of_settings(), console.now())
        };
        let unchanged = Switches {
            revision: before.revision,
            ..switches.clone()
        };
        if revision_min <= before.revision && unchanged == *before {
            return;
        }
        if console.gate.switch(switches) {
            console.stock().set_backlog_max(console.gate.backlog_max());
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

/// `present` with each member of `wanted` that lets fewer buyers in; `settings` are the limits where no switch says otherwise. What is `named`
/// goes back as is wanted: else it could be let go while the wish that it stays waits for its turn.
fn tightened(present: &Switches, wanted: &Switches, named: &Members, settings: Limits) -> Switches {
    /// No challenge, as the activity says, a challenge.
    const fn strictness(challenge: Option<Challenge>) -> u8 {
        match challenge {
            Some(Challenge::None) => 0,
            None => 1,
            Some(Challenge::Token) => 2,
        }
    }
    let challenge = if strictness(present.challenge) < strictness(wanted.challenge) {
        wanted.challenge
    } else {
        present.challenge
    };
    Switches {
        entry_open: present.entry_open && wanted.entry_open,
        read_only: present.read_only || wanted.read_only,
        admit_ratio: present.admit_ratio.min(wanted.admit_ratio),
        backlog_max: present.backlog_max.min(wanted.backlog_max),
        challenge,
        limits: present.limits.narrowed(&wanted.limits, settings),
        ..present.clone()
    }
    .with_returns_of(wanted, named)
}

#[cfg(test)]
#[path = "in_force_tests.rs"]
mod tests;
