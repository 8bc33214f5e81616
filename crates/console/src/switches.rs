//! What the operator turns during the night of a sale. The ledger keeps them; this node's gate and store follow before the answer, other
//! nodes by their own [`refresh`].
//!
//! A change that only lets fewer buyers in does not wait for the ledger: it is in force first, the store keeps it, and [`refresh`] writes
//! it as soon as the ledger can be written. Every other change is written first.

mod force;
mod kept;

use seckill_api::{Answer, Fault};
use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::{Conflict, Context, Error as Ledger, StoredSwitches};
use serde::Serialize;

use crate::call::Call;
use crate::error::Error;
use crate::outer::Reply;
use crate::state::Console;
use crate::write::Write;

pub(crate) use force::refresh;

use force::{CHANGES_A_REVISION, opened_again, operators, put_in_force, put_in_force_of, shut_at_once};
use kept::{Kept, is_brake};

/// Attempts where another node changes the switches at the same time.
const ATTEMPTS_MAX: u32 = 5;

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
    let opened = shut_at_once(console, &body)?;
    let _one_at_a_time = console.switching.lock().await;
    let before = opened_again(&console.gate.switches(), opened.as_ref());
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
    put_in_force(console, &after);
    let base = kept
        .as_ref()
        .map_or(before.revision / CHANGES_A_REVISION, |kept| kept.base);
    let keeping = Kept::keep(console, Some(&Kept { base, switches: after })).await;
    match write(console, &body, kept.as_ref(), context).await {
        Ok(()) => {}
        Err(Error::Layer(Fault::Busy(why))) => {
            tracing::warn!(
                why,
                "the switches are in force, the ledger gets them as soon as it can be written"
            );
            keeping?;
        }
        Err(error) => {
            put_in_force(console, &before);
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
                put_in_force_of(console, &next, set);
            }
            // The same request came before; what was set since then stays.
            Ok(_) => {
                Kept::keep(console, kept).await?;
                put_in_force_of(console, &present, revision);
            }
            Err(Ledger::Conflict(Conflict::StaleVersion)) => continue,
            Err(error) => return Err(error.into()),
        }
        return Ok(());
    }
    Err(Error::busy("the switches are being changed elsewhere all the time"))
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
