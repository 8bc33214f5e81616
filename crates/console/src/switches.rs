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
mod in_force;
mod keeping;
mod kept;
mod merged;
mod opened;
mod reading;
mod refresh;
mod telling;
mod tightened;
mod views;
mod watching;
mod writing;

use std::cmp::Ordering;

use seckill_api::Fault;
use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::Context;
use seckill_sale::EpochMs;
use seckill_stock::Error as Stock;
use serde_json::json;

use crate::call::Call;
use crate::error::Error;
use crate::input;
use crate::outer::Reply;
use crate::state::Console;
use crate::write::Write;

/// How often others may have switches kept while a change waits for its turn.
const KEPT_MAX: u32 = 5;

const KEPT_ALL_THE_TIME: &str = "switches are being kept for the database elsewhere all the time";

pub(crate) use in_force::InForce;
pub(crate) use keeping::Keeping;
pub(crate) use refresh::refresh;
pub(crate) use watching::watch;

use brakes::Brakes;
use in_force::{put_in_force, revision, row, settled, tighten_at_once, waits_elsewhere};
use keeping::{keep, known, pending, publish};
use kept::{Kept, is_brake};
use telling::tell;
use views::{rehearsed, shown};
use writing::{KeptIs, Written, write, write_kept};

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
        keeps_out && tell(console).await
    };
    let (is_told, done) = tokio::join!(told, in_its_turn(console, body.clone(), context));
    drop(tightening);
    // The others need not obey it any more, nor this node what was carried out there.
    if is_told || waits_elsewhere(console) {
        tell(console).await;
    }
    done?;
    Ok(shown(console))
}

/// Carries out what the patch asks for, behind those that came before.
async fn in_its_turn(console: &Console, patch: SwitchesPatch, context: Context) -> Result<(), Error> {
    let _one_at_a_time = console.switching.lock().await;
    let is_current = check_revision(console, &patch, &context)?;
    let (before, now) = (settled(console), console.now());
    let after = patched(&before, &patch)?;
    if is_current && is_brake(&before.at(now), &after.at(now)) {
        brake(console, after, &patch, context).await
    } else {
        change(console, patch, context).await
    }
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

/// What is not a brake waits for store and ledger.
async fn change(console: &Console, mut patch: SwitchesPatch, context: Context) -> Result<(), Error> {
    let before = revision(console);
    let mut attempts = 0..KEPT_MAX;
    // Written by itself: the books tell both, and nothing is left that could shut the entrance again.
    while let Some(kept) = pending(console).await? {
        attempts.next().ok_or_else(|| Error::busy(KEPT_ALL_THE_TIME))?;
        match write_kept(console, &kept).await? {
            KeptIs::InLedger => publish(console).await,
            KeptIs::Other => {}
            KeptIs::Unknown => return Err(Fault::from(Stock::Unavailable).into()),
        }
        // Whoever made the patch has seen what was kept as that revision, and nothing else was written since.
        let is_next = revision(console) == before + 1;
        patch.revision = patch
            .revision
            .map(|made_for| made_for + u64::from(is_next && made_for == before));
    }
    write(console, &patch, None, context).await?;
    publish(console).await;
    Ok(())
}

/// The ledger first: it alone knows whether the patch was made for another revision, or came before, and what the store keeps other nodes carry
/// out. Until it has answered they obey the patch as one that waits. Where it does not the store keeps what is in force.
async fn brake(console: &Console, after: Switches, patch: &SwitchesPatch, context: Context) -> Result<(), Error> {
    let (earlier, given_at) = (known(console), context.now);
    let why = match write(console, patch, earlier.as_ref(), context).await {
        // What others have had kept meanwhile stays, and gets into the ledger in its turn.
        Ok(Written::Now) => {
            publish(console).await;
            return Ok(());
        }
        Ok(Written::Before) => return Ok(()),
        Err(Error::Layer(why @ (Fault::Busy(_) | Fault::OutcomeUnknown))) => why,
        Err(error) => return Err(error),
    };
    tracing::warn!(%why, "the switches are in force, the ledger gets them as soon as it can be written");
    let kept = match &earlier {
        // On the row on which those stand: it may be another one than this node's.
        Some(earlier) => earlier.with(patched(&earlier.switches, patch)?, &patch.members),
        None => Kept::on(row(console).as_ref(), after.clone(), &patch.members),
    };
    put_in_force(console, &after);
    match keep(console, Some(kept.given(given_at))).await {
        Err(Stock::Unavailable) => Err(Fault::OutcomeUnknown.into()),
        kept => kept.map_err(Error::from),
    }
}

fn patched(switches: &Switches, patch: &SwitchesPatch) -> Result<Switches, Error> {
    switches.patched(patch).map_err(|error| {
        let text = error.to_string();
        let (field, why) = text.split_once(' ').unwrap_or((&text, ""));
        Error::invalid(field.to_owned(), why.to_owned())
    })
}
