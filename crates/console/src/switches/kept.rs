//! Switches in the store: those that are in force, but not in the ledger yet, and how they meet what others say later; else a copy of the
//! ledger's row, for nodes that can't ask the ledger themselves.

mod lost;

use seckill_gate::{Members, Switches};
use seckill_ledger::StoredSwitches;
use seckill_sale::EpochMs;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::merged::merged;

/// What the store keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Revision of the ledger on which they stand.
    base: u64,
    /// Fingerprint of what the ledger had there; none where it had no row, where an older version kept them, or where nothing was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base_print: Option<u64>,
    /// What was changed since that row, with the values; none where an older version kept them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed: Option<Members>,
    /// The switches: what the row says, with what was changed since.
    pub(super) switches: Switches,
    /// When the last of it had its turn; none where an older version kept them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given_at: Option<EpochMs>,
    /// Whether nothing was changed since: the ledger has them as that row.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_copy: bool,
}

impl Kept {
    /// A copy of the ledger's row; none where it has none.
    pub(super) fn copy_of(row: &StoredSwitches, switches: &Switches) -> Option<Self> {
        let base_print = print(row)?;
        Some(Self {
            base: row.revision,
            base_print: Some(base_print),
            changed: None,
            switches: Switches {
                revision: row.revision,
                ..switches.clone()
            },
            given_at: None,
            is_copy: true,
        })
    }

    /// Switches that stand on this row of the ledger, or on none, but for what is `changed`.
    pub(super) fn on(row: Option<&StoredSwitches>, switches: Switches, changed: &Members) -> Self {
        Self {
            base: row.map_or(0, |row| row.revision),
            base_print: row.and_then(print),
            changed: Some(*changed),
            switches,
            given_at: None,
            is_copy: false,
        }
    }

    /// Switches of which no more is known than how far they keep buyers out.
    pub(super) const fn outlined(base: u64, switches: Switches, is_copy: bool) -> Self {
        Self {
            base,
            base_print: None,
            changed: None,
            switches,
            given_at: None,
            is_copy,
        }
    }

    /// The same, of which something had its turn at this moment.
    pub(super) fn given(self, at: EpochMs) -> Self {
        Self {
            given_at: self.given_at.max(Some(at)),
            ..self
        }
    }

    /// When the last of what was changed had its turn; none where that is not known.
    pub(super) const fn given_at(&self) -> Option<EpochMs> {
        self.given_at
    }

    /// Later switches on the same row, with more that is `changed`.
    pub(super) fn with(&self, switches: Switches, changed: &Members) -> Self {
        Self {
            changed: Some(changed.or(&self.changed())),
            switches,
            is_copy: false,
            ..self.clone()
        }
    }

    /// Revision of the ledger on which they stand.
    pub(super) const fn base(&self) -> u64 {
        self.base
    }

    /// Whether they stand on a later row than this one.
    pub(super) const fn are_later_than(&self, revision: u64) -> bool {
        revision < self.base
    }

    /// Whether they stand on no earlier row than the others.
    pub(super) const fn are_as_late_as(&self, others: &Self) -> bool {
        others.base <= self.base
    }

    /// Whether both stand on the same row.
    pub(super) fn share_row(&self, other: &Self) -> bool {
        self.base == other.base && self.base_print == other.base_print
    }

    /// The same changes on top of those that somebody else has had kept meanwhile.
    pub(super) fn onto(&self, theirs: &Self) -> Self {
        let met = theirs.with(self.upon(&theirs.switches), &self.changed());
        Self {
            given_at: met.given_at.max(self.given_at),
            ..met
        }
    }

    /// Whether the ledger has nothing later than what they stand on.
    pub(super) fn stand_on(&self, row: &StoredSwitches) -> bool {
        self.base == row.revision && self.base_print.is_none_or(|base| Some(base) == print(row))
    }

    /// What is to be in force for now on a node that knows this `row`, which says `ledger`: as far as it is known, where these are of a later
    /// row, and else what is to stand in the ledger.
    pub(super) fn over_known(&self, ledger: &Switches, row: &StoredSwitches) -> Switches {
        if self.are_later_than(row.revision) {
            self.switches.clone()
        } else {
            self.over(ledger, row)
        }
    }

    /// What is to stand in the ledger, whose `row` says `ledger`: the kept switches, or, where that is another row than theirs, what it says
    /// with their changes.
    pub(super) fn over(&self, ledger: &Switches, row: &StoredSwitches) -> Switches {
        if self.stand_on(row) {
            self.switches.clone()
        } else {
            self.upon(ledger)
        }
    }

    /// The same where this was opened since they had their turn: it stays as the ledger says.
    pub(super) fn over_but(&self, opened: &Members, ledger: &Switches, row: &StoredSwitches) -> Switches {
        if opened.is_empty() {
            self.over(ledger, row)
        } else {
            merged(&self.switches, &self.changed().without(opened), ledger)
        }
    }

    /// What others say, with the changes of these.
    fn upon(&self, theirs: &Switches) -> Switches {
        merged(&self.switches, &self.changed(), theirs)
    }

    /// Of an older version's it is known only that they let fewer buyers in.
    fn changed(&self) -> Members {
        let of_older = || Members {
            entry_open: Some(self.switches.entry_open),
            read_only: Some(self.switches.read_only),
            admit_ratio: Some(self.switches.admit_ratio),
            ..Members::default()
        };
        self.changed.unwrap_or_else(of_older)
    }
}

/// Tells a row of the ledger from others of its revision. Where there is no row each version and configuration says something else.
fn print(row: &StoredSwitches) -> Option<u64> {
    let digest = Sha256::digest(&row.json);
    let print = u64::from_be_bytes(*digest.first_chunk().expect("a digest has 32 bytes"));
    (row.revision != 0).then_some(print)
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
