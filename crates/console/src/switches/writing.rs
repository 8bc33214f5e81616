//! Writing the switches into the ledger, and reading what stands there.

use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::{Conflict, Context, Error as Ledger, StoredSwitches};

use super::in_force::{put_in_force_of, settled};
use super::kept::Kept;
use super::{patched, stale};
use crate::error::Error;
use crate::state::Console;

/// Attempts where another node changes the switches at the same time.
const ATTEMPTS_MAX: u32 = 5;

/// Who sets switches back, in audit rows: nobody does, their time is over.
const EXPIRED: &str = "expired";

/// Whether a patch was written.
pub(super) enum Written {
    Now,
    /// The same request came before, and nothing is changed by it.
    Before,
}

/// Writes the patch into the ledger, after whatever was kept for it, and puts in force what stands there then. A patch that was made for
/// another revision is offered for that one all the same: the ledger may know its key.
///
/// # Errors
/// A conflict where the patch was made for another revision, and everything that a ledger says.
pub(super) async fn write(
    console: &Console,
    patch: &SwitchesPatch,
    kept: Option<&Kept>,
    context: Context,
) -> Result<Written, Error> {
    for _ in 0..ATTEMPTS_MAX {
        let (present, revision) = present(console, kept).await?;
        let next = patched(&present, patch)?;
        let made_for = patch.revision.unwrap_or(revision);
        let json = json(&next, revision + 1)?;
        match console.ledger().set_switches(json, made_for, context.clone()).await {
            Ok(set) if made_for == revision && set == revision + 1 => {
                put_in_force_of(console, &next, set);
                return Ok(Written::Now);
            }
            Ok(_) => {
                put_in_force_of(console, &present, revision);
                return Ok(Written::Before);
            }
            Err(Ledger::Conflict(Conflict::StaleVersion)) if made_for != revision => return Err(stale(revision)),
            Err(Ledger::Conflict(Conflict::StaleVersion)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::busy("the switches are being changed elsewhere all the time"))
}

/// Writes that switches have gone back, in a row of its own. Where another node has done it this changes nothing.
pub(super) async fn write_gone_back(console: &Console, revision: u64) -> Result<(), Error> {
    let now = console.now();
    let next = settled(console).at(now);
    let context = Context {
        actor: EXPIRED.to_owned(),
        now,
        idempotency: None,
    };
    let json = json(&next, revision + 1)?;
    match console.ledger().set_switches(json, revision, context).await {
        Ok(set) => {
            put_in_force_of(console, &next, set);
            tracing::info!(revision = set, "switches went back by themselves; the ledger has it");
            Ok(())
        }
        Err(Ledger::Conflict(Conflict::StaleVersion)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn json(switches: &Switches, revision: u64) -> Result<String, Error> {
    let switches = Switches {
        revision,
        ..switches.clone()
    };
    serde_json::to_string(&switches).map_err(|_| Error::internal())
}

/// The switches that the ledger keeps, with what was kept for it, and its revision; those in force where they were never set.
async fn present(console: &Console, kept: Option<&Kept>) -> Result<(Switches, u64), Ledger> {
    let stored = console.ledger().switches().await?;
    let revision = stored.as_ref().map_or(0, |stored| stored.revision);
    let read = stored.as_ref().and_then(read);
    let switches = match (read, kept) {
        (Some(switches), None) => switches,
        (Some(switches), Some(kept)) => kept.over(&switches, revision),
        (None, Some(kept)) => kept.switches.clone(),
        (None, None) => settled(console),
    };
    Ok((switches, revision))
}

/// What an older or newer version wrote may not be readable here; then this node keeps what it has.
pub(super) fn read(stored: &StoredSwitches) -> Option<Switches> {
    let read = serde_json::from_str::<Switches>(&stored.json).map_err(|error| error.to_string());
    let checked = read.and_then(|switches| switches.check().map_err(|error| error.to_string()));
    checked
        .inspect_err(|error| tracing::error!(error, "the stored switches can't be read; this node keeps its own"))
        .ok()
}
