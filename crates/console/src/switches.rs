//! What the operator turns during the night of a sale. The ledger keeps them; this node's gate and store follow before the answer, other
//! nodes by their own [`refresh`].
//!
//! Whatever a change tightens is in force while it waits for its turn, here and, where it is one of the [`brakes`], at other nodes. A change that
//! only shuts the entrance, or lowers the share that is let in, needs no ledger: where that does not answer the store keeps it, and [`refresh`]
//! writes it as soon as the ledger can be written.
//!
//! Where neither ledger nor store answers, such a change stays in force in this process and is told to both again and again; the operator
//! hears that its outcome is unknown, since a restart before one of them has it would forget it. What opens is refused until the store says
//! what it keeps.

mod brakes;
mod effects;
mod foreign;
mod in_force;
mod keeping;
mod kept;
mod merged;
mod opened;
mod reading;
mod refresh;
mod telling;
mod tightened;
mod turn;
mod views;
mod watching;
mod writing;

use std::cmp::Ordering;

use seckill_api::Fault;
use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::Context;
use seckill_sale::EpochMs;
use serde_json::json;

use crate::call::Call;
use crate::error::Error;
use crate::input;
use crate::outer::Reply;
use crate::state::Console;
use crate::write::Write;

pub(crate) use in_force::InForce;
pub(crate) use keeping::Keeping;
pub(crate) use refresh::refresh;
pub(crate) use watching::watch;

use brakes::Brakes;
use in_force::{revision, tighten_at_once, waits_elsewhere};
use telling::tell;
use turn::in_its_turn;
use views::{rehearsed, shown};

/// The switches in force on this node.
pub(crate) async fn show(call: Call) -> Reply {
    shown(&call.console)
}

/// Changes what the patch names, or says what that would change.
pub(crate) async fn patch(Write { call, body, context }: Write<SwitchesPatch>) -> Result<Reply, Error> {
    let console = &*call.console;
    let body = timed(body, call.now)?;
    let is_current = check_revision(console, &body, &context)?;
    if body.dry_run {
        return rehearsed(console, &body);
    }
    let tightening = is_current.then(|| tighten_at_once(console, &body)).transpose()?;
    let told = async {
        let keeps_out = is_current && Brakes::named(&body.members) != Brakes::RELEASED;
        if keeps_out { tell(console).await } else { None }
    };
    let (is_told, done) = tokio::join!(told, in_its_turn(console, body.clone(), context));
    drop(tightening);
    // The others need not obey it any more, nor this node what was carried out there.
    if waits_elsewhere(console) {
        watch(console).await;
    } else if is_told.is_some() {
        tell(console).await;
    }
    done?;
    Ok(shown(console))
}

/// The patch with the moment at which it ends.
fn timed(patch: SwitchesPatch, now: EpochMs) -> Result<SwitchesPatch, Error> {
    let Some(text) = &patch.expires_at else {
        return Ok(patch);
    };
    let until = input::moment("expires_at", text)?;
    if until <= now {
        return Err(Error::invalid("expires_at", "must lie in the future"));
    }
    Ok(SwitchesPatch {
        until: Some(until),
        ..patch
    })
}

/// Whether the patch may be in force before the ledger has it: not where it was made for a revision that is not in force here. Only the
/// ledger tells then whether it is one of another node, or a request that came before.
fn check_revision(console: &Console, patch: &SwitchesPatch, context: &Context) -> Result<bool, Error> {
    let Some(made_for) = patch.revision else {
        return Ok(true);
    };
    let in_force = revision(console);
    match made_for.cmp(&in_force) {
        Ordering::Equal => Ok(true),
        Ordering::Less if context.idempotency.is_none() || patch.dry_run => Err(stale(in_force)),
        _ => Ok(false),
    }
}

/// A patch was made for other switches than those in force.
fn stale(in_force: u64) -> Error {
    Fault::Conflict {
        why: format!("revision: the switches were changed meanwhile; {in_force} is in force"),
        data: json!({"field": "revision", "revision": in_force}),
    }
    .into()
}

fn patched(switches: &Switches, patch: &SwitchesPatch) -> Result<Switches, Error> {
    switches.patched(patch).map_err(|error| {
        let text = error.to_string();
        let (field, why) = text.split_once(' ').unwrap_or((&text, ""));
        Error::invalid(field.to_owned(), why.to_owned())
    })
}
