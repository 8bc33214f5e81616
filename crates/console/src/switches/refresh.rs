//! What is repeated until it is done: switches that the store is to keep, and those that it keeps for the ledger. And what the ledger says
//! of other nodes.

use seckill_gate::{Switches, SwitchesPatch};
use seckill_ledger::{Context, Error as Ledger};

use super::in_force::{put_in_force, put_in_force_of, revision, settled};
use super::kept::{self, Kept};
use super::writing::{Written, read, write, write_gone_back};
use crate::state::Console;
use crate::write::ACTOR;

/// Writes what was kept for the ledger, puts in force what stands there then, and writes what has gone back by itself.
pub(crate) async fn refresh(console: &Console) -> Result<(), Ledger> {
    let _one_at_a_time = console.switching.lock().await;
    console.gate.go_back(console.now());
    let kept = match kept::confirmed(console).await {
        Ok(kept) => kept,
        Err(error) => {
            tracing::debug!(%error, "the store can't be asked for kept switches");
            kept::known(console)
        }
    };
    if let Some(kept) = kept {
        let settled = settled(console);
        let revision = settled.revision;
        if settled
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
    let Some(stored) = console.ledger().switches().await? else {
        return Ok(());
    };
    if revision(console) < stored.revision
        && let Some(switches) = read(&stored)
    {
        put_in_force_of(console, &switches, stored.revision);
    }
    if settled(console).is_due(console.now())
        && let Err(error) = write_gone_back(console, stored.revision).await
    {
        tracing::warn!(%error, "the ledger can't be told yet that switches went back; they have");
    }
    Ok(())
}

async fn flush(console: &Console, kept: &Kept) {
    match write(console, &SwitchesPatch::default(), Some(kept), operators(console)).await {
        Ok(Written::Now | Written::Before) => {
            tracing::info!("the ledger has the switches");
            kept::keep_or_later(console, None).await;
        }
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
