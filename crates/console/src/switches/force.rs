//! Putting switches in force on this node, from the ledger and from what the store keeps for it.

use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::{Context, Error as Ledger};

use super::kept::Kept;
use super::{patched, read, write};
use crate::error::Error;
use crate::state::Console;
use crate::write::ACTOR;

/// Changes in force between two revisions of the ledger, at the most. The gate counts both: its revision is the ledger's times this, plus
/// one for every change that the ledger has not got yet.
pub(super) const CHANGES_A_REVISION: u64 = 1 << 20;

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
    let revision = revision_min.max(console.gate.switches().revision + 1);
    let switches = switches.clone();
    let backlog_max = switches.backlog_max;
    if console.gate.switch(Switches { revision, ..switches }) {
        console.stock().set_backlog_max(backlog_max);
    }
}

/// A patch that shuts the entrance does so before it waits for its turn: those before it may wait for a database. Gives what was in force.
///
/// # Errors
/// What the patch itself has wrong.
pub(super) fn shut_at_once(console: &Console, patch: &SwitchesPatch) -> Result<Option<Switches>, Error> {
    loop {
        let before = console.gate.switches();
        let after = patched(&before, patch)?;
        let shuts = (before.entry_open && !after.entry_open) || (!before.read_only && after.read_only);
        if !shuts {
            return Ok(None);
        }
        let shut = Switches {
            entry_open: after.entry_open,
            read_only: after.read_only,
            revision: before.revision + 1,
            ..Switches::clone(&before)
        };
        // Somebody else's change may come in between; then this is thought over.
        if console.gate.switch(shut) {
            return Ok(Some(Switches::clone(&before)));
        }
    }
}

/// `switches` with the entrance as it was before [`shut_at_once`].
pub(super) fn opened_again(switches: &Switches, opened: Option<&Switches>) -> Switches {
    let opened = opened.unwrap_or(switches);
    Switches {
        entry_open: opened.entry_open,
        read_only: opened.read_only,
        ..switches.clone()
    }
}

/// Writes what was kept for the ledger, and puts in force what stands there then.
pub(crate) async fn refresh(console: &Console) -> Result<(), Ledger> {
    let _one_at_a_time = console.switching.lock().await;
    if let Some(kept) = Kept::read(console).await {
        let revision = console.gate.switches().revision;
        if *console.gate.switches()
            != (Switches {
                revision,
                ..kept.switches.clone()
            })
        {
            // After a restart.
            put_in_force(console, &kept.switches);
        }
        flush(console, &kept).await;
        return Ok(());
    }
    if let Some(stored) = console.ledger().switches().await?
        && console.gate.switches().revision / CHANGES_A_REVISION < stored.revision
        && let Some(switches) = read(&stored)
    {
        put_in_force_of(console, &switches, stored.revision);
    }
    Ok(())
}

async fn flush(console: &Console, kept: &Kept) {
    match write(console, &SwitchesPatch::default(), Some(kept), operators(console)).await {
        Ok(()) => tracing::info!("the ledger has the switches"),
        Err(error) => tracing::warn!(%error, "the ledger can't take the switches yet; they stay in force"),
    }
}

/// Who sets switches that the ledger hears of later: nobody else does.
pub(super) fn operators(console: &Console) -> Context {
    Context {
        actor: ACTOR.to_owned(),
        now: console.now(),
        idempotency: None,
    }
}
