//! The three switches that keep buyers out: without the others, as nodes tell each other of what waits for its turn, and which changes do
//! nothing else.

use seckill_gate::{Members, Switches};
use serde::{Deserialize, Serialize};

/// How far buyers are kept out. What another version says besides is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Brakes {
    entry_open: bool,
    read_only: bool,
    admit_ratio: f64,
}

impl Brakes {
    /// Nobody is kept out.
    pub(super) const RELEASED: Self = Self {
        entry_open: true,
        read_only: false,
        admit_ratio: 1.0,
    };

    pub(super) const fn of(switches: &Switches) -> Self {
        Self {
            entry_open: switches.entry_open,
            read_only: switches.read_only,
            admit_ratio: switches.admit_ratio,
        }
    }

    /// All three, by name.
    pub(super) fn members(self) -> Members {
        Members {
            entry_open: Some(self.entry_open),
            read_only: Some(self.read_only),
            admit_ratio: Some(self.admit_ratio),
            ..Members::default()
        }
    }

    /// What a change names of them.
    pub(super) fn named(members: &Members) -> Self {
        let Self {
            entry_open,
            read_only,
            admit_ratio,
        } = Self::RELEASED;
        Self {
            entry_open: members.entry_open.unwrap_or(entry_open),
            read_only: members.read_only.unwrap_or(read_only),
            admit_ratio: members.admit_ratio.unwrap_or(admit_ratio),
        }
    }

    /// The stricter of both, of each.
    #[must_use]
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            entry_open: self.entry_open && other.entry_open,
            read_only: self.read_only || other.read_only,
            admit_ratio: self.admit_ratio.min(other.admit_ratio),
        }
    }

    /// Those that let more buyers in than they did before.
    pub(super) fn opens(self, before: Self) -> Members {
        Members {
            entry_open: (self.entry_open && !before.entry_open).then_some(true),
            read_only: (!self.read_only && before.read_only).then_some(false),
            admit_ratio: (before.admit_ratio < self.admit_ratio).then_some(self.admit_ratio),
            ..Members::default()
        }
    }

    /// Switches that let in no more buyers than these do.
    pub(super) fn on(self, switches: Switches) -> Switches {
        let Self {
            entry_open,
            read_only,
            admit_ratio,
        } = Self::of(&switches).and(self);
        Switches {
            entry_open,
            read_only,
            admit_ratio,
            ..switches
        }
    }
}

impl Default for Brakes {
    fn default() -> Self {
        Self::RELEASED
    }
}

/// Whether `after` lets nobody in, or does nothing but lower the share that is let in, and takes back nothing that keeps buyers out in
/// `before`. When they are let in again does not matter.
pub(super) fn is_brake(before: &Switches, after: &Switches) -> bool {
    let opens = after.entry_open && !before.entry_open || before.read_only && !after.read_only;
    let shut = !after.is_open() && !opens && after.admit_ratio <= before.admit_ratio;
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
