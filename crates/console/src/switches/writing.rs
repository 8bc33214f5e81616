//! Writing the switches into the ledger.

use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::{Conflict, Context, Error as Ledger, StoredSwitches};

use super::foreign::unreadable;
use super::in_force::{put_in_force_of, settled};
use super::keeping::{Stands, is_untold, known, stands};
use super::kept::Kept;
use super::reading::{Present, follow, present};
use super::{patched, stale};
use crate::error::Error;
use crate::state::Console;
use crate::write::ACTOR;

/// Attempts where another node changes the switches at the same time.
const ATTEMPTS_MAX: u32 = 5;

const CHANGED_ALL_THE_TIME: &str = "the switches are being changed elsewhere all the time";

/// Who sets switches back, in audit rows: nobody does, their time is over.
pub(super) const EXPIRED: &str = "expired";

/// Whether a patch was written.
pub(super) enum Written {
    Now,
    /// The same request came before, and nothing is changed by it.
    Before,
    /// Not: a later version has written what can't be read here.
    Unreadable,
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
        let Some(Present { row, switches, .. }) = present(console, kept).await? else {
            return Ok(Written::Unreadable);
        };
        let next = patched(&switches, patch)?;
        let revision = row.revision;
        let made_for = patch.revision.unwrap_or(revision);
        let json = json(&next, revision + 1)?;
        let set = console.ledger().set_switches(json.clone(), made_for, context.clone());
        match set.await {
            Ok(revision_set) if made_for == revision && revision_set == revision + 1 => {
                let revision = revision_set;
                put_in_force_of(console, &next, StoredSwitches { revision, json });
                return Ok(Written::Now);
            }
            Ok(_) => {
                put_in_force_of(console, &switches, row);
                return Ok(Written::Before);
            }
            Err(Ledger::Conflict(Conflict::StaleVersion)) if made_for != revision => return Err(stale(revision)),
            Err(Ledger::Conflict(Conflict::StaleVersion)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::busy(CHANGED_ALL_THE_TIME))
}

/// What became of switches that were kept for the ledger.
pub(super) enum KeptIs {
    /// The ledger has them.
    InLedger,
    /// Something else is kept by now, or nothing: another node has written them, has taken them back, or has changed more.
    Other,
    /// Not known: the ledger has another row than the one on which they stand, and the store can't be asked whether that came of them.
    Unknown,
}

/// Writes what was kept for the ledger, and puts in force what stands there then. Every node sees what the store keeps: the first one
/// writes it, and the others see that the ledger says so.
///
/// # Errors
/// Everything that a ledger says, and a conflict where its row can't be read here.
pub(super) async fn write_kept(console: &Console, kept: &Kept) -> Result<KeptIs, Error> {
    for _ in 0..ATTEMPTS_MAX {
        let Present { row, ledger, switches } = present(console, Some(kept)).await?.ok_or_else(unreadable)?;
        // Asked behind the ledger: whoever lets buyers in again ends what is kept first, and then that row is not written over.
        match stands(console, kept).await {
            Stands::Yes => {}
            Stands::No => {
                if known(console).is_none() {
                    follow(console, &row);
                }
                return Ok(KeptIs::Other);
            }
            Stands::Unknown if is_untold(console) || kept.stand_on(&row) => {}
            Stands::Unknown => return Ok(KeptIs::Unknown),
        }
        let revision = row.revision;
        let of_row = Switches {
            revision,
            ..switches.clone()
        };
        if ledger == of_row {
            put_in_force_of(console, &switches, row);
            return Ok(KeptIs::InLedger);
        }
        let json = json(&switches, revision + 1)?;
        let set = console
            .ledger()
            .set_switches(json.clone(), revision, operators(console));
        match set.await {
            Ok(revision) => {
                put_in_force_of(console, &switches, StoredSwitches { revision, json });
                return Ok(KeptIs::InLedger);
            }
            Err(Ledger::Conflict(Conflict::StaleVersion)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::busy(CHANGED_ALL_THE_TIME))
}

/// Who sets switches that the ledger hears of later: nobody else does.
fn operators(console: &Console) -> Context {
    Context {
        actor: ACTOR.to_owned(),
        now: console.now(),
        idempotency: None,
    }
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
    match console.ledger().set_switches(json.clone(), revision, context).await {
        Ok(revision) => {
            put_in_force_of(console, &next, StoredSwitches { revision, json });
            tracing::info!(revision, "switches went back by themselves; the ledger has it");
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
