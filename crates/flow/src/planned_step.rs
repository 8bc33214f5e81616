//! What recovery will do, as data and in words.

use std::fmt;

use seckill_sale::ActivityId;
use serde::Serialize;

/// One thing that recovery will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum PlannedStep {
    /// The store has no state: it is built from the ledger.
    Rebuild {
        /// The sale.
        activity: ActivityId,
    },
    /// The store never issued tickets that the ledger has: its state is built anew from the ledger.
    Renew {
        /// The sale.
        activity: ActivityId,
        /// Tickets that only the store has, and that go on.
        kept: usize,
        /// Those that can't, each as `T7-1-3 of alice`.
        lost: Vec<String>,
    },
    /// Store and ledger differ: the store is brought in line.
    Realign {
        /// The sale.
        activity: ActivityId,
        /// Tickets that the ledger lost, queued again.
        queued_again: usize,
        /// Other differences that are put right.
        repaired: usize,
        /// Differences that a person has to look at.
        by_hand: usize,
        /// Whether the units left are counted anew.
        left_changes: bool,
    },
    /// The store knows the sale, the ledger does not: nothing can be done here.
    Foreign {
        /// The sale.
        activity: ActivityId,
    },
}

impl PlannedStep {
    /// The sale.
    #[must_use]
    pub const fn activity(&self) -> ActivityId {
        match self {
            Self::Rebuild { activity }
            | Self::Renew { activity, .. }
            | Self::Realign { activity, .. }
            | Self::Foreign { activity } => *activity,
        }
    }

    /// Whether carrying it out changes anything; what is left to a person does not.
    #[must_use]
    pub const fn changes(&self) -> bool {
        match self {
            Self::Realign {
                queued_again,
                repaired,
                left_changes,
                ..
            } => *queued_again != 0 || *repaired != 0 || *left_changes,
            Self::Rebuild { .. } | Self::Renew { .. } | Self::Foreign { .. } => true,
        }
    }
}

/// Lost tickets that a step names in words; it lists all of them.
const LOST_NAMED_MAX: usize = 20;

impl fmt::Display for PlannedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rebuild { activity } => {
                write!(
                    f,
                    "activity {activity}: the store has no state; it is built from the ledger"
                )
            }
            Self::Renew { activity, kept, lost } => {
                write!(
                    f,
                    "activity {activity}: the journal is behind the database; its state is built anew from the database; \
                     {kept} tickets that only the journal has are kept, {} are lost",
                    lost.len()
                )?;
                let named = lost.iter().take(LOST_NAMED_MAX);
                named
                    .enumerate()
                    .try_for_each(|(index, ticket)| write!(f, "{} {ticket}", if index == 0 { ":" } else { "," }))?;
                write!(f, "{}", if LOST_NAMED_MAX < lost.len() { ", …" } else { "" })
            }
            Self::Realign {
                activity,
                queued_again,
                repaired,
                by_hand,
                left_changes,
            } => {
                write!(
                    f,
                    "activity {activity}: {queued_again} tickets are queued again, {repaired} differences repaired, {by_hand} are left to a person"
                )?;
                if *left_changes {
                    write!(f, "; the units left are counted anew from the ledger")?;
                }
                Ok(())
            }
            Self::Foreign { activity } => write!(
                f,
                "activity {activity}: the store knows it, the ledger does not; restore a copy of the database that has it, nothing is changed"
            ),
        }
    }
}
