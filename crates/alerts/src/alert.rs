//! What may go wrong, and that it did.

use seckill_sale::{ActivityId, EpochMs};

/// What may go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Tickets that could not become orders wait for a person; told again when there are more of them.
    DeadLetters,
    /// The audit of a sale does not balance.
    AuditDrift,
    /// The store does not answer.
    StoreDown,
    /// The database does not answer.
    DatabaseDown,
    /// A sale lets nobody in, since its store lost state and is not rebuilt yet.
    ActivityFenced,
}

impl Kind {
    /// Its name in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DeadLetters => "dead_letters",
            Self::AuditDrift => "audit_drift",
            Self::StoreDown => "store_down",
            Self::DatabaseDown => "database_down",
            Self::ActivityFenced => "activity_fenced",
        }
    }
}

/// How one thing is at one moment. What can't be told now is no reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What it is about.
    pub kind: Kind,
    /// The sale; none where it is about none or all.
    pub activity: Option<ActivityId>,
    /// How bad it is: 0 is well. More than before is told again.
    pub level: u64,
    /// What was found, for a person.
    pub said: String,
}

/// Which way something turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It went wrong, or got worse.
    Raised,
    /// It is well again.
    Resolved,
}

impl Turn {
    /// Its name in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Resolved => "resolved",
        }
    }
}

/// Something that turned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// What it is about.
    pub kind: Kind,
    /// The sale; none where it is about none or all.
    pub activity: Option<ActivityId>,
    /// Which way it turned.
    pub turn: Turn,
    /// When it went wrong.
    pub since: EpochMs,
    /// When this was noticed.
    pub at: EpochMs,
    /// What was found, for a person.
    pub said: String,
}
