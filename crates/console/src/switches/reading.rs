//! Reading what stands in the ledger, and taking it over.

use seckill_gate::{Members, Switches};
use seckill_ledger::{Error as Ledger, StoredSwitches};

use super::in_force::{is_news, put_in_force_of, revision, row, tighten_by_unread};
use super::kept::Kept;
use super::opened::opened_since;
use crate::state::Console;

/// Takes over what stands in the ledger, whichever way it differs from what stood there before; false where that can't be read here. Nothing is
/// kept for the ledger.
pub(super) fn follow(console: &Console, row: &StoredSwitches) -> bool {
    if !is_news(console, row) {
        tighten_by_unread(console, None);
        return true;
    }
    let Some(switches) = read(row) else {
        tighten_by_unread(console, Some(row));
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

/// Takes over the copy of a later row that others left in the store, where the ledger can't be asked.
pub(super) fn follow_copy(console: &Console, copy: &Kept) {
    if copy.is_copy && copy.are_later_than(revision(console)) {
        let row = StoredSwitches {
            revision: copy.switches.revision,
            json: serde_json::to_string(&copy.switches).expect("plain data"),
        };
        put_in_force_of(console, &copy.switches, row);
    }
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

/// What is to hold by the ledger's row.
pub(super) struct Present {
    pub(super) row: StoredSwitches,
    /// What the row says.
    pub(super) ledger: Switches,
    /// The same, with what was kept for the ledger and not opened since.
    pub(super) switches: Switches,
}

/// What is to hold now; none where the row can't be read here, and so not be written over.
pub(super) async fn present(console: &Console, kept: Option<&Kept>) -> Result<Option<Present>, Ledger> {
    let row = stored(console).await?;
    let Some(ledger) = read(&row) else {
        return Ok(None);
    };
    let opened = match kept.and_then(Kept::given_at) {
        Some(given_at) => opened_since(console, given_at).await?,
        None => Members::default(),
    };
    let switches = kept.map_or_else(|| ledger.clone(), |kept| kept.over_but(&opened, &ledger, &row));
    Ok(Some(Present { row, ledger, switches }))
}

/// What is kept, on top of the row as this node knows it: another node may have kept it on an older one, and what was shut since stays so.
pub(super) fn as_far_as_known(console: &Console, kept: &Kept) -> Switches {
    let over = |row: StoredSwitches| read(&row).map(|ledger| kept.over_known(&ledger, &row));
    row(console).and_then(over).unwrap_or_else(|| kept.switches.clone())
}

/// What a later version wrote may not be readable here; then this node keeps what it has, and lets no more buyers in than that does.
fn read(stored: &StoredSwitches) -> Option<Switches> {
    let read = serde_json::from_str::<Switches>(&stored.json).map_err(|error| error.to_string());
    let checked = read.and_then(|switches| switches.check().map_err(|error| error.to_string()));
    checked
        .inspect_err(|error| tracing::error!(error, "the stored switches can't be read; this node keeps its own"))
        .ok()
}
