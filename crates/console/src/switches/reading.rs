//! Reading what stands in the ledger, and taking it over.

use seckill_gate::Switches;
use seckill_ledger::{Error as Ledger, StoredSwitches};

use super::in_force::{is_news, put_in_force_of, revision, settled};
use super::kept::Kept;
use crate::state::Console;

/// Takes over what stands in the ledger, whichever way it differs from what stood there before; false where that can't be read here. Nothing is
/// kept for the ledger.
pub(super) fn follow(console: &Console, row: &StoredSwitches) -> bool {
    if !is_news(console, row) {
        return true;
    }
    let Some(switches) = read(row) else {
        return false;
    };
    let before = revision(console);
    if row.revision < before {
        let now = row.revision;
        tracing::warn!(
            before,
            now,
            "the ledger went back to earlier switches, as after a restore; they are in force"
        );
    }
    put_in_force_of(console, &switches, row.clone());
    true
}

/// The ledger's row; where it has none, what holds as long as nobody has set switches.
pub(super) async fn stored(console: &Console) -> Result<StoredSwitches, Ledger> {
    let stored = console.ledger().switches().await?;
    Ok(stored.unwrap_or_else(|| never_set(console.settings.backlog_max)))
}

fn never_set(backlog_max: u64) -> StoredSwitches {
    StoredSwitches {
        revision: 0,
        json: serde_json::to_string(&Switches::open(backlog_max)).expect("plain data"),
    }
}

/// The switches that the ledger keeps, with what was kept for it, and its row.
pub(super) async fn present(console: &Console, kept: Option<&Kept>) -> Result<(Switches, StoredSwitches), Ledger> {
    let row = stored(console).await?;
    let switches = match (read(&row), kept) {
        (Some(switches), None) => switches,
        (Some(switches), Some(kept)) => kept.over(&switches, &row),
        (None, Some(kept)) => kept.switches.clone(),
        (None, None) => settled(console),
    };
    Ok((switches, row))
}

/// What an older or newer version wrote may not be readable here; then this node keeps what it has.
pub(super) fn read(stored: &StoredSwitches) -> Option<Switches> {
    let read = serde_json::from_str::<Switches>(&stored.json).map_err(|error| error.to_string());
    let checked = read.and_then(|switches| switches.check().map_err(|error| error.to_string()));
    checked
        .inspect_err(|error| tracing::error!(error, "the stored switches can't be read; this node keeps its own"))
        .ok()
}
