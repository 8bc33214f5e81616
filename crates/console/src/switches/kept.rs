//! Switches that are in force, but not in the ledger yet: how the store keeps them, and how they meet what the ledger says later.

use seckill_gate::{Members, Switches};
use seckill_ledger::StoredSwitches;
use seckill_stock::Error;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::state::Console;

/// What the store keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Revision of the ledger on which they stand.
    base: u64,
    /// Fingerprint of what the ledger had there; none where an older version kept them, or nothing was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base_print: Option<u64>,
    /// The switches.
    pub(super) switches: Switches,
}

/// What this process knows of what the store keeps.
#[derive(Default)]
pub(crate) struct Keeping {
    /// What the store is to keep.
    wanted: Option<Kept>,
    /// Whether the store has not said yet that it does: it has not answered, and is told again.
    is_untold: bool,
}

/// What is kept, or to be kept, as far as this process knows. Costs no IO.
pub(super) fn known(console: &Console) -> Option<Kept> {
    console.keeping.lock().wanted.clone()
}

/// What the store keeps, by its own word: it is told first what it was not told yet. To be called by one at a time.
pub(super) async fn confirmed(console: &Console) -> Result<Option<Kept>, Error> {
    let untold = {
        let keeping = console.keeping.lock();
        keeping.is_untold.then(|| keeping.wanted.clone())
    };
    if let Some(wanted) = untold {
        keep(console, wanted.clone()).await?;
        return Ok(wanted);
    }
    let text = console.stock().kept_switches().await?;
    let read = text.and_then(|text| {
        let read = serde_json::from_str::<Kept>(&text);
        read.inspect_err(|error| tracing::error!(%error, "kept switches can't be read; they are left alone"))
            .ok()
    });
    console.keeping.lock().wanted.clone_from(&read);
    Ok(read)
}

/// Whether the store says that it does not keep this any more. To be called by one at a time.
pub(super) async fn is_over(console: &Console, kept: &Kept) -> bool {
    confirmed(console).await.is_ok_and(|now| now.as_ref() != Some(kept))
}

/// Has the store keep `kept`, or nothing. It is told as soon as this is polled. Where it does not say that it does, [`confirmed`] tells it
/// again. To be called by one at a time.
pub(super) async fn keep(console: &Console, kept: Option<Kept>) -> Result<(), Error> {
    let text = kept
        .as_ref()
        .map(|kept| serde_json::to_string(kept).expect("plain data"));
    *console.keeping.lock() = Keeping {
        wanted: kept,
        is_untold: true,
    };
    console.stock().keep_switches(text).await?;
    console.keeping.lock().is_untold = false;
    Ok(())
}

/// As [`keep`], where it has time.
pub(super) async fn keep_or_later(console: &Console, kept: Option<Kept>) {
    if let Err(error) = keep(console, kept).await {
        tracing::warn!(%error, "the store is told again which switches it is to keep");
    }
}

impl Kept {
    /// Switches that stand on this row of the ledger, or on none.
    pub(super) fn on(row: Option<&StoredSwitches>, switches: Switches) -> Self {
        Self {
            base: row.map_or(0, |row| row.revision),
            base_print: row.map(print),
            switches,
        }
    }

    /// Later switches on the same row.
    pub(super) fn with(&self, switches: Switches) -> Self {
        Self {
            switches,
            ..self.clone()
        }
    }

    fn stand_on(&self, row: &StoredSwitches) -> bool {
        self.base == row.revision && self.base_print.is_none_or(|base| base == print(row))
    }

    /// What is to stand in the ledger, whose `row` says `ledger`: the kept switches, or, where that is another row than theirs, what it
    /// says, as far as it lets no more buyers in than the kept ones.
    pub(super) fn over(&self, ledger: &Switches, row: &StoredSwitches) -> Switches {
        let kept = &self.switches;
        if self.stand_on(row) {
            return kept.clone();
        }
        // What they tighten goes back when they said so.
        let tightened = Members {
            entry_open: (ledger.entry_open && !kept.entry_open).then_some(false),
            read_only: (kept.read_only && !ledger.read_only).then_some(true),
            admit_ratio: (kept.admit_ratio < ledger.admit_ratio).then_some(kept.admit_ratio),
            ..Members::default()
        };
        Switches {
            entry_open: ledger.entry_open && kept.entry_open,
            read_only: ledger.read_only || kept.read_only,
            admit_ratio: ledger.admit_ratio.min(kept.admit_ratio),
            ..ledger.clone()
        }
        .with_returns_of(kept, &tightened)
    }
}

/// Tells a row of the ledger from others of its revision.
fn print(row: &StoredSwitches) -> u64 {
    let digest = Sha256::digest(&row.json);
    u64::from_be_bytes(*digest.first_chunk().expect("a digest has 32 bytes"))
}

/// Whether `after` does nothing but let fewer buyers in than `before`: it shuts the entrance, or lowers the share that is let in. When they
/// are let in again does not matter.
pub(super) fn is_brake(before: &Switches, after: &Switches) -> bool {
    let shut = !after.is_open();
    let ratio = Members {
        admit_ratio: Some(before.admit_ratio),
        ..Members::default()
    };
    let unchanged_but_ratio = Switches {
        admit_ratio: before.admit_ratio,
        revision: before.revision,
        ..after.clone()
    }
    .with_returns_of(before, &ratio);
    shut || (after.admit_ratio < before.admit_ratio && unchanged_but_ratio == *before)
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
