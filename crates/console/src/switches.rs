//! What the operator turns during the night of a sale. The ledger keeps them; this node's gate and store follow before the answer, other
//! nodes by their own [`refresh`].
//!
//! A change that only lets fewer buyers in does not wait for the ledger: it is in force first, the store keeps it, and [`refresh`] writes
//! it as soon as the ledger can be written. Every other change is written first.

use seckill_api::Answer;
use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::{Conflict, Context, Error as Ledger, StoredSwitches};
use serde::Serialize;

use crate::call::Call;
use crate::error::Error;
use crate::outer::Reply;
use crate::state::Console;
use crate::switches_kept::{Kept, is_brake};
use crate::write::{ACTOR, Write};

/// Attempts where another node changes the switches at the same time.
const ATTEMPTS_MAX: u32 = 5;

/// Changes in force between two revisions of the ledger, at the most. The gate counts both: its revision is the ledger's times this, plus
/// one for every change that the ledger has not got yet.
const CHANGES_A_REVISION: u64 = 1 << 20;

#[derive(Serialize)]
struct View {
    #[serde(flatten)]
    switches: Switches,
    /// The limits that hold, where a switch says nothing those of the settings.
    limits_in_force: LimitsView,
    /// Whether they are in force, but not in the ledger yet.
    ledger_pending: bool,
}

#[derive(Serialize)]
struct LimitsView {
    ip: String,
    user: String,
    device: String,
    read: String,
}

async fn shown(console: &Console) -> Reply {
    let switches = Switches::clone(&console.gate.switches());
    let limits = console.gate.limits();
    let limits_in_force = LimitsView {
        ip: limits.ip.to_string(),
        user: limits.user.to_string(),
        device: limits.device.to_string(),
        read: limits.read.to_string(),
    };
    let revision = switches.revision / CHANGES_A_REVISION;
    Reply(Answer::fine(&View {
        switches: Switches { revision, ..switches },
        limits_in_force,
        ledger_pending: Kept::read(console).await.is_some(),
    }))
}

/// The switches in force on this node.
pub(crate) async fn show(call: Call) -> Reply {
    shown(&call.console).await
}

/// Changes what the patch names.
pub(crate) async fn patch(Write { call, body, context }: Write<SwitchesPatch>) -> Result<Reply, Error> {
    let console = &*call.console;
    let _one_at_a_time = console.switching.lock().await;
    let before = Switches::clone(&console.gate.switches());
    let after = patched(&before, &body)?;
    let kept = Kept::read(console).await;
    if !is_brake(&before, &after) {
        if let Some(kept) = kept {
            // Written by itself: the books tell both, and nothing is left that could shut the entrance again.
            write(console, &SwitchesPatch::default(), Some(&kept), operators(console)).await?;
        }
        write(console, &body, None, context).await?;
        return Ok(shown(console).await);
    }
    put_in_force(console, after.clone());
    let base = kept
        .as_ref()
        .map_or(before.revision / CHANGES_A_REVISION, |kept| kept.base);
    let keeping = Kept::keep(console, Some(&Kept { base, switches: after })).await;
    match write(console, &body, kept.as_ref(), context).await {
        Ok(()) => {}
        Err(Error::Busy(why)) => {
            tracing::warn!(
                why,
                "the switches are in force, the ledger gets them as soon as it can be written"
            );
            keeping?;
        }
        Err(error) => {
            put_in_force(console, before);
            Kept::keep(console, kept.as_ref()).await?;
            return Err(error);
        }
    }
    Ok(shown(console).await)
}

fn patched(switches: &Switches, patch: &SwitchesPatch) -> Result<Switches, Error> {
    switches.patched(patch).map_err(|error| {
        let text = error.to_string();
        let field = text.split(' ').next().unwrap_or_default().to_owned();
        Error::invalid(field, text)
    })
}

/// Writes the patch into the ledger, after whatever was kept for it, and puts in force what stands there then.
async fn write(console: &Console, patch: &SwitchesPatch, kept: Option<&Kept>, context: Context) -> Result<(), Error> {
    for _ in 0..ATTEMPTS_MAX {
        let (present, revision) = present(console, kept).await?;
        let next = patched(&present, patch)?;
        let json = json(&next, revision + 1)?;
        match console.ledger().set_switches(json, revision, context.clone()).await {
            Ok(set) if set == revision + 1 => {
                Kept::keep(console, None).await?;
                put_in_force_of(console, next, set);
            }
            // The same request came before; what was set since then stays.
            Ok(_) => {
                Kept::keep(console, kept).await?;
                put_in_force_of(console, present, revision);
            }
            Err(Ledger::Conflict(Conflict::StaleVersion)) => continue,
            Err(error) => return Err(error.into()),
        }
        return Ok(());
    }
    Err(Error::Busy("the switches are being changed elsewhere all the time"))
}

fn json(switches: &Switches, revision: u64) -> Result<String, Error> {
    let switches = Switches {
        revision,
        ..switches.clone()
    };
    serde_json::to_string(&switches).map_err(|_| Error::Internal)
}

/// The switches that the ledger keeps, with what was kept for it, and its revision; those in force where they were never set.
async fn present(console: &Console, kept: Option<&Kept>) -> Result<(Switches, u64), Ledger> {
    let stored = console.ledger().switches().await?;
    let revision = stored.as_ref().map_or(0, |stored| stored.revision);
    let read = stored.as_ref().and_then(read);
    let switches = match (read, kept) {
        (Some(switches), None) => switches,
        (Some(switches), Some(kept)) => kept.over(switches, revision),
        (None, Some(kept)) => kept.switches.clone(),
        (None, None) => Switches::clone(&console.gate.switches()),
    };
    Ok((switches, revision))
}

/// What an older or newer version wrote may not be readable here; then this node keeps what it has.
fn read(stored: &StoredSwitches) -> Option<Switches> {
    let read = serde_json::from_str::<Switches>(&stored.json).map_err(|error| error.to_string());
    let checked = read.and_then(|switches| switches.check().map_err(|error| error.to_string()));
    checked
        .inspect_err(|error| tracing::error!(error, "the stored switches can't be read; this node keeps its own"))
        .ok()
}

/// Puts in force what stands in the ledger's revision.
fn put_in_force_of(console: &Console, switches: Switches, revision: u64) {
    let revision = revision * CHANGES_A_REVISION;
    if console.gate.switches().revision < revision {
        put_in_force(
            console,
            Switches {
                revision: revision - 1,
                ..switches
            },
        );
    } else {
        put_in_force(console, switches);
    }
}

/// Puts in force, whatever was before. To be called by one at a time.
fn put_in_force(console: &Console, switches: Switches) {
    let backlog_max = switches.backlog_max;
    let revision = console.gate.switches().revision.max(switches.revision) + 1;
    if console.gate.switch(Switches { revision, ..switches }) {
        console.stock().set_backlog_max(backlog_max);
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
            put_in_force(console, kept.switches.clone());
        }
        flush(console, &kept).await;
        return Ok(());
    }
    if let Some(stored) = console.ledger().switches().await?
        && console.gate.switches().revision / CHANGES_A_REVISION < stored.revision
        && let Some(switches) = read(&stored)
    {
        put_in_force_of(console, switches, stored.revision);
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
fn operators(console: &Console) -> Context {
    Context {
        actor: ACTOR.to_owned(),
        now: console.now(),
        idempotency: None,
    }
}
