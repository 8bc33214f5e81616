//! Stock and queue in one process: all sales in memory, behind a journal on the local disk.
//!
//! [`Embedded`] is the handle that everybody holds; one [`Sequencer`] owns the state and the journal. A claim is stock, buyer and
//! order intent in one journal record; its answer leaves after the sync. Readers of a result look at published views and ask nobody.

mod ahead;
mod backlog;
mod codec;
mod command;
mod compactor;
mod embedded;
mod embedded_brake;
mod embedded_members;
mod embedded_queue;
mod inbox;
pub mod journal;
pub mod lock;
mod observer;
mod open;
mod others;
mod patience;
mod permits;
mod replies;
mod sequencer;
mod shared;
mod state;
pub mod storage;
mod turn;
mod turn_brake;
mod turn_open;
mod turn_permit;

pub use compactor::{CompactionOptions, compact};
pub use embedded::Embedded;
pub use open::{OpenError, Opened, Options, open};
pub use sequencer::Sequencer;

use seckill_sale::NotReady;

/// Why the engine did not do what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Too much waits already, or the engine is shutting down; nothing was changed.
    #[error("the store takes nothing now")]
    Unavailable,
    /// The write failed half-way; a restart tells whether it was done.
    #[error("the outcome is not known until the process is restarted")]
    OutcomeUnknown,
    /// It cannot be done now, for this reason.
    #[error("the store cannot do it now: {}", .0.as_str())]
    NotReady(NotReady),
}

impl From<Error> for seckill_stock::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable => Self::Unavailable,
            Error::OutcomeUnknown => Self::OutcomeUnknown,
            Error::NotReady(reason) => Self::NotReady(reason),
        }
    }
}

impl From<Error> for seckill_queue::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable | Error::NotReady(_) => Self::Unavailable,
            Error::OutcomeUnknown => Self::OutcomeUnknown,
        }
    }
}
