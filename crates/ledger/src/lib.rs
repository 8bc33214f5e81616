//! Contract of the ledger: the database behind the queue. Products, activities and their stock rows, orders, records of tickets,
//! stock movements, dead letters, schedules, switches, blocks and audit rows.
//!
//! One trait a topic, all of them together [`Ledger`]; the errors; the conformance suite that every database passes.
//! Every method is one transaction: all of it or none of it. Every write of an operator leaves an audit row in the same transaction.

mod catalog;
pub mod conformance;
mod dead_letters;
mod eligible;
mod examined;
mod idempotency;
mod movements;
mod operations;
mod orders;
mod settlement;
pub mod written;

pub use catalog::{ActivityPatch, Catalog, NewActivity, NewProduct, OpeningRow, Product};
pub use dead_letters::{DeadLetter, DeadLetterId, DeadLetterState, DeadLetters, Parking};
pub use eligible::{Eligible, EligibleForm, EligibleList};
pub use examined::Examined;
pub use idempotency::{Idempotency, Replayed};
pub use movements::{Movement, MovementKind};
pub use operations::{
    AuditRow, Block, BlockKind, Installation, NewBlock, NewSchedule, Operations, Schedule, StoredSwitches, Twice,
};
pub use orders::{Cancelled, Expired, Order, OrderFilter, Orders, PaidOutcome, Payment, UnitsOnCancel};
pub use settlement::{LedgerRecord, RecordState, SettleBatch, Settled, Settlement, Tally, TicketResult};

use seckill_sale::{Epoch, EpochMs};

/// Why the ledger did not do what was asked. Nothing was changed, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The database is down, locked, full or read-only. Not the caller's fault and not the row's: try again later. The ledger tells the log
    /// of an outage itself, once, with its reminders and its end, whoever meets it: callers log none, or at `debug`.
    #[error("the database cannot be used now: {0}")]
    Outage(String),
    /// The same, where the answer to a commit was lost: it may have been done. Doing it again under the same idempotency key is harmless,
    /// and so is what a worker or the scheduler repeats.
    #[error("the database's answer was lost: {0}")]
    OutcomeUnknown(String),
    /// A row cannot be written, whatever is tried. A batch with such a row is to be split until the row is alone.
    #[error("a row was rejected: {0}")]
    Rejected(String),
    /// The present state does not allow it.
    #[error("{0}")]
    Conflict(Conflict),
    /// There is no such row.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// The idempotency key was used with another request.
    #[error("the idempotency key was used with another request")]
    KeyReused,
}

/// What stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The product has fewer units than wanted.
    #[error("the product has {available} units, {wanted} are wanted")]
    ProductShort {
        /// Units that the product has.
        available: u64,
        /// Units that were wanted.
        wanted: u64,
    },
    /// The row was changed since it was read.
    #[error("the row was changed by somebody else; read it again")]
    StaleVersion,
    /// The activity is closed.
    #[error("the activity is closed")]
    Closed,
    /// Buyers do not see the activity yet, so there is nothing to pause or to resume.
    #[error("the activity is a draft, which no buyer sees; publish it first")]
    Draft,
    /// The activity's window is over, so it can't be moved any more.
    #[error("the activity has ended; its window can't be changed any more")]
    Ended,
    /// The activity is preheated or has begun, so this field is fixed.
    #[error("{0} can't be changed once the activity is preheated")]
    Fixed(&'static str),
    /// The order is in another state.
    #[error("the order is {0}")]
    OrderState(&'static str),
    /// The dead letter was resolved before.
    #[error("the dead letter was resolved before")]
    Resolved,
    /// This round exists.
    #[error("the round exists already")]
    RoundExists,
    /// Tickets without a final result stand in the way.
    #[error("tickets without a final result are left")]
    Unsettled,
    /// The store has a newer state of the activity than the one that these tickets come from; they may be units sold again since.
    #[error("the store's state was built anew since, as epoch {present}")]
    OlderState {
        /// The newest epoch.
        present: Epoch,
    },
    /// The tickets belong to another sale, which had this number before the ledger was restored from an older copy.
    #[error("the tickets are of another sale that had this number; the database has lost that one")]
    AnotherSale,
    /// The payment does not fit the order.
    #[error("the payment does not fit the order: {0}")]
    Payment(&'static str),
}

impl Error {
    /// Whether nothing is wrong but the database: what was asked for may be done later, or may have been done.
    #[must_use]
    pub const fn is_outage(&self) -> bool {
        matches!(self, Self::Outage(_) | Self::OutcomeUnknown(_))
    }
}

impl From<Conflict> for Error {
    fn from(conflict: Conflict) -> Self {
        Self::Conflict(conflict)
    }
}

/// Who does something, for the audit row, and the key that makes it idempotent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Who: `admin`, `scheduler`, …
    pub actor: String,
    /// When.
    pub now: EpochMs,
    /// The operator's `Idempotency-Key` with a digest of what he asked: the same key with the same digest gives the same row again,
    /// with another digest [`Error::KeyReused`].
    pub idempotency: Option<Idempotency>,
}

/// A page of a list, and where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Opaque text for the next call; none at the end.
    pub next: Option<String>,
}

/// Where a page begins and how long it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// `next` of the page before; none for the first.
    pub cursor: Option<String>,
    /// Rows at the most, 1 to [`PageRequest::LIMIT_MAX`].
    pub limit: u32,
}

impl PageRequest {
    /// Longest page.
    pub const LIMIT_MAX: u32 = 500;
}

/// The whole ledger. Every write tells [`written::noted`] what came of it.
pub trait Ledger: Catalog + Settlement + Orders + DeadLetters + Operations + Eligible + Examined {}

impl<T: Catalog + Settlement + Orders + DeadLetters + Operations + Eligible + Examined> Ledger for T {}
