//! What is repeated until it is done: switches that the store is to keep, and those that it keeps for the ledger. And what the ledger says
//! of other nodes.

use seckill_ledger::Error as Ledger;

use super::in_force::{put_in_force_kept, settled};
use super::keeping::{known, pending, publish, wanted};
use super::kept::Kept;
use super::reading::{as_far_as_known, follow, follow_copy, stored};
use super::writing::{KeptIs, write_gone_back, write_kept};
use crate::state::Console;

/// Writes what was kept for the ledger, puts in force what stands there then, and writes what has gone back by itself.
pub(crate) async fn refresh(console: &Console) -> Result<(), Ledger> {
    let _one_at_a_time = console.switching.lock().await;
    console.gate.go_back(console.now());
    let kept = pending(console).await.unwrap_or_else(|error| {
        tracing::debug!(%error, "the store can't be asked for kept switches");
        known(console)
    });
    if let Some(kept) = kept {
        put_in_force_kept(console, &as_far_as_known(console, &kept));
        flush(console, &kept).await;
        return Ok(());
    }
    let row = match stored(console).await {
        Ok(row) => row,
        Err(error) => {
            if let Some(copy) = wanted(console) {
                follow_copy(console, &copy);
            }
            return Err(error);
        }
    };
    if !follow(console, &row) {
        return Ok(());
    }
    if settled(console).is_due(console.now())
        && let Err(error) = write_gone_back(console, row.revision).await
    {
        tracing::warn!(%error, "the ledger can't be told yet that switches went back; they have");
    }
    publish(console).await;
    Ok(())
}

async fn flush(console: &Console, kept: &Kept) {
    match write_kept(console, kept).await {
        Ok(KeptIs::InLedger) => {
            tracing::info!("the ledger has the switches");
            publish(console).await;
        }
        Ok(KeptIs::Other) => {}
        Ok(KeptIs::Unknown) => {
            tracing::debug!("whether the ledger has had the switches is not known yet; they stay in force");
        }
        Err(error) => tracing::warn!(%error, "the ledger can't take the switches yet; they stay in force"),
    }
}
