//! What the operator turns during the night of a sale. The ledger keeps them; this node's gate and store follow before the answer, other
//! nodes by their own [`refresh`].
//!
//! A change that only shuts the entrance, or lowers the share that is let in, does not wait for the ledger: it is in force first, the store
//! keeps it, and [`refresh`] writes it as soon as the ledger can be written. Every other change is written first. Whatever a change
//! tightens is in force while it waits for its turn.
//!
//! Where neither ledger nor store answers, such a change stays in force in this process and is told to both again and again; the operator
//! hears that its outcome is unknown, since a restart before one of them has it would forget it. What opens is refused until the store says
//! what it keeps.

mod in_force;
mod kept;
mod refresh;
mod tightened;
mod writing;

use seckill_api::{Answer, Fault};
use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::Context;
use seckill_stock::Error as Stock;
use serde::Serialize;

use crate::call::Call;
use crate::error::Error;
use crate::outer::Reply;
use crate::state::Console;
use crate::write::Write;

pub(crate) use in_force::InForce;
pub(crate) use kept::Keeping;
pub(crate) use refresh::refresh;

use in_force::{put_in_force, revision, settled, tighten_at_once};
use kept::{Kept, is_brake, keep, keep_or_later};
use refresh::operators;
use writing::{Written, write};

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
    network: String,
    user: String,
    device: String,
    read: String,
    activity: String,
    node: String,
}

fn shown(console: &Console) -> Reply {
    let switches = Switches::clone(&console.gate.switches());
    let limits = console.gate.limits();
    let limits_in_force = LimitsView {
        ip: limits.ip.to_string(),
        network: limits.network.to_string(),
        user: limits.user.to_string(),
        device: limits.device.to_string(),
        read: limits.read.to_string(),
        activity: limits.activity.to_string(),
        node: limits.node.to_string(),
    };
    let revision = revision(console);
    Reply(Answer::fine(&View {
        switches: Switches { revision, ..switches },
        limits_in_force,
        ledger_pending: kept::known(console).is_some(),
    }))
}

/// The switches in force on this node.
pub(crate) async fn show(call: Call) -> Reply {
    shown(&call.console)
}

/// Changes what the patch names.
pub(crate) async fn patch(Write { call, body, context }: Write<SwitchesPatch>) -> Result<Reply, Error> {
    let console = &*call.console;
    let tightening = tighten_at_once(console, &body)?;
    {
        let _one_at_a_time = console.switching.lock().await;
        let before = settled(console);
        let after = patched(&before, &body)?;
        if is_brake(&before, &after) {
            brake(console, before, after, &body, context).await?;
        } else {
            change(console, &body, context).await?;
        }
    }
    drop(tightening);
    Ok(shown(console))
}

/// What is not a brake waits for store and ledger.
async fn change(console: &Console, patch: &SwitchesPatch, context: Context) -> Result<(), Error> {
    if let Some(kept) = kept::confirmed(console).await? {
        // Written by itself: the books tell both, and nothing is left that could shut the entrance again.
        write(console, &SwitchesPatch::default(), Some(&kept), operators(console)).await?;
        keep(console, None).await?;
    }
    write(console, patch, None, context).await?;
    Ok(())
}

/// In force first; store and ledger are told at the same time, since either may not answer, and one of them is enough.
async fn brake(
    console: &Console,
    before: Switches,
    after: Switches,
    patch: &SwitchesPatch,
    context: Context,
) -> Result<(), Error> {
    put_in_force(console, &after);
    let earlier = kept::known(console);
    let base = earlier.as_ref().map_or_else(|| revision(console), |kept| kept.base);
    let keeping = keep(console, Some(Kept { base, switches: after }));
    let (keeping, written) = tokio::join!(keeping, write(console, patch, earlier.as_ref(), context));
    match written {
        Ok(Written::Now) => keep_or_later(console, None).await,
        // The same request came before; what was set since then stays.
        Ok(Written::Before) => keep_or_later(console, earlier).await,
        Err(Error::Layer(Fault::Busy(why))) => {
            tracing::warn!(
                why,
                "the switches are in force, the ledger gets them as soon as it can be written"
            );
            return match keeping {
                Err(Stock::Unavailable) => Err(Fault::OutcomeUnknown.into()),
                keeping => keeping.map_err(Error::from),
            };
        }
        Err(error) => {
            put_in_force(console, &before);
            keep_or_later(console, earlier).await;
            return Err(error);
        }
    }
    Ok(())
}

fn patched(switches: &Switches, patch: &SwitchesPatch) -> Result<Switches, Error> {
    switches.patched(patch).map_err(|error| {
        let text = error.to_string();
        let field = text.split(' ').next().unwrap_or_default().to_owned();
        Error::invalid(field, text)
    })
}
