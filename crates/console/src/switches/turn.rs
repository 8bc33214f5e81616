//! Carrying out a patch, one after the other at a node.

use seckill_api::Fault;
use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::Context;
use seckill_stock::Error as Stock;

use super::brakes::is_brake;
use super::foreign::unreadable;
use super::in_force::{put_in_force, revision, row, settled};
use super::keeping::{keep, keeps_unreadable, known, pending, publish};
use super::kept::Kept;
use super::writing::{KeptIs, Written, write, write_kept};
use super::{check_revision, patched};
use crate::error::Error;
use crate::state::Console;

/// How often others may have switches kept while a change waits for its turn.
const KEPT_MAX: u32 = 5;

const KEPT_ALL_THE_TIME: &str = "switches are being kept for the database elsewhere all the time";

/// Carries out what the patch asks for, behind those that came before.
pub(super) async fn in_its_turn(console: &Console, patch: SwitchesPatch, context: Context) -> Result<(), Error> {
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
    // Whatever else a later version had the store keep, nothing that it shut is said to be open.
    if keeps_unreadable(console) {
        return Err(unreadable());
    }
    match write(console, &patch, None, context).await? {
        Written::Now | Written::Before => publish(console).await,
        Written::Unreadable => return Err(unreadable()),
    }
    Ok(())
}

/// The ledger first: it alone knows whether the patch was made for another revision, or came before, and what the store keeps other nodes carry
/// out. Until it has answered they obey the patch as one that waits. Where it does not the store keeps what is in force.
async fn brake(console: &Console, after: Switches, patch: &SwitchesPatch, context: Context) -> Result<(), Error> {
    let earlier = known(console);
    let why = match write(console, patch, earlier.as_ref(), context).await {
        // What others have had kept meanwhile stays, and gets into the ledger in its turn.
        Ok(Written::Now) => {
            publish(console).await;
            return Ok(());
        }
        Ok(Written::Before) => return Ok(()),
        Ok(Written::Unreadable) => unreadable(),
        Err(why @ Error::Layer(Fault::Busy(_) | Fault::OutcomeUnknown)) => why,
        Err(error) => return Err(error),
    };
    tracing::warn!(%why, "the switches are in force, the ledger gets them as soon as it can be written");
    let kept = match &earlier {
        // On the row on which those stand: it may be another one than this node's.
        Some(earlier) => earlier.with(patched(&earlier.switches, patch)?, &patch.members),
        None => Kept::on(row(console).as_ref(), after.clone(), &patch.members),
    };
    put_in_force(console, &after);
    // From now on, and not from when it came: what others opened while it waited for its turn was not said behind it.
    match keep(console, Some(kept.given(console.now()))).await {
        Err(Stock::Unavailable) => Err(Fault::OutcomeUnknown.into()),
        kept => kept.map_err(Error::from),
    }
}
