//! What the operator turns during the night of a sale. The ledger keeps them; this node's gate and store follow before the answer, other
//! nodes by their own [`refresh`].

use seckill_api::Answer;
use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::{Conflict, Error as Ledger, StoredSwitches};
use serde::Serialize;

use crate::call::Call;
use crate::error::Error;
use crate::outer::Reply;
use crate::state::Console;
use crate::write::Write;

/// Attempts where another node changes the switches at the same time.
const ATTEMPTS_MAX: u32 = 5;

#[derive(Serialize)]
struct View<'a> {
    #[serde(flatten)]
    switches: &'a Switches,
    /// The limits that hold, where a switch says nothing those of the settings.
    limits_in_force: LimitsView,
}

#[derive(Serialize)]
struct LimitsView {
    ip: String,
    user: String,
    device: String,
    read: String,
}

fn shown(console: &Console) -> Reply {
    let switches = console.gate.switches();
    let limits = console.gate.limits();
    let limits_in_force = LimitsView {
        ip: limits.ip.to_string(),
        user: limits.user.to_string(),
        device: limits.device.to_string(),
        read: limits.read.to_string(),
    };
    Reply(Answer::fine(&View {
        switches: &switches,
        limits_in_force,
    }))
}

/// The switches in force on this node.
pub(crate) async fn show(call: Call) -> Reply {
    shown(&call.console)
}

/// Changes what the patch names.
pub(crate) async fn patch(Write { call, body, context }: Write<SwitchesPatch>) -> Result<Reply, Error> {
    let console = &*call.console;
    let _one_at_a_time = console.switching.lock().await;
    for _ in 0..ATTEMPTS_MAX {
        let (present, revision) = present(console).await?;
        let next = present.patched(&body).map_err(|error| {
            let text = error.to_string();
            let field = text.split(' ').next().unwrap_or_default().to_owned();
            Error::invalid(field, text)
        })?;
        let json = serde_json::to_string(&next).map_err(|_| Error::Internal)?;
        match console.ledger().set_switches(json, revision, context.clone()).await {
            Ok(set) if set == next.revision => put_in_force(console, next),
            // The same request came before; what was set since then stays.
            Ok(_) => put_in_force(console, self::present(console).await?.0),
            Err(Ledger::Conflict(Conflict::StaleVersion)) => continue,
            Err(error) => return Err(error.into()),
        }
        return Ok(shown(console));
    }
    Err(Error::Busy("the switches are being changed elsewhere all the time"))
}

/// The switches that the ledger keeps with their revision; those of the settings where they were never set.
async fn present(console: &Console) -> Result<(Switches, u64), Ledger> {
    let stored = console.ledger().switches().await?;
    let revision = stored.as_ref().map_or(0, |stored| stored.revision);
    let read = stored.as_ref().and_then(read);
    let switches = read.unwrap_or_else(|| Switches::clone(&console.gate.switches()));
    Ok((Switches { revision, ..switches }, revision))
}

/// What an older or newer version wrote may not be readable here; then this node keeps what it has.
fn read(stored: &StoredSwitches) -> Option<Switches> {
    let read = serde_json::from_str::<Switches>(&stored.json).map_err(|error| error.to_string());
    let checked = read.and_then(|switches| switches.check().map_err(|error| error.to_string()));
    checked
        .inspect_err(|error| tracing::error!(error, "the stored switches can't be read; this node keeps its own"))
        .ok()
}

fn put_in_force(console: &Console, switches: Switches) {
    let backlog_max = switches.backlog_max;
    if console.gate.switch(switches) {
        console.stock().set_backlog_max(backlog_max);
    }
}

/// Puts in force what the ledger keeps.
pub(crate) async fn refresh(console: &Console) -> Result<(), Ledger> {
    let _one_at_a_time = console.switching.lock().await;
    if let Some(stored) = console.ledger().switches().await?
        && console.gate.switches().revision < stored.revision
        && let Some(switches) = read(&stored)
    {
        let revision = stored.revision;
        put_in_force(console, Switches { revision, ..switches });
    }
    Ok(())
}
