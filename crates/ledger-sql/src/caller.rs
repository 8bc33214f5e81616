//! Whoever waits for a job, and what becomes of it where he waits no longer.
//!
//! ```text
//! state        he gives up                                the job
//! waiting      given up: he hears that nothing was done   may commit: committing
//! given up                                                is not begun, or undone before its commit
//! committing   he hears that the outcome is unknown
//! ```
//!
//! So whoever hears that nothing was done may rely on it, however long the job still waits for its turn or for a lock: what he asked for
//! is not done behind his back when the database comes back.

use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use seckill_ledger::Error;

const WAITING: u8 = 0;
const GIVEN_UP: u8 = 1;
const COMMITTING: u8 = 2;

/// Whoever waits for a job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caller(Arc<AtomicU8>);

impl Caller {
    /// He waits no longer. What he hears.
    pub(crate) fn give_up(&self) -> Error {
        let said = "the database does not answer".to_owned();
        match self.0.compare_exchange(WAITING, GIVEN_UP, AcqRel, Acquire) {
            Ok(_) => Error::Outage(said),
            Err(_) => Error::OutcomeUnknown(said),
        }
    }

    /// Whether he has given up: then nothing is to be done for him any more.
    pub(crate) fn has_given_up(&self) -> bool {
        self.0.load(Acquire) == GIVEN_UP
    }

    /// To be asked with what was `done`, which is given back, right before it is committed. From now on the outcome is unknown to him until
    /// he hears it.
    ///
    /// # Errors
    /// [`Error::Outage`] where he has given up: the transaction is to be undone.
    pub(crate) fn check_before_commit<T>(&self, done: T) -> Result<T, Error> {
        match self.0.compare_exchange(WAITING, COMMITTING, AcqRel, Acquire) {
            Err(GIVEN_UP) => Err(Error::Outage("nobody waits for it any more".to_owned())),
            // A transaction that is done again asks twice.
            Ok(_) | Err(_) => Ok(done),
        }
    }
}
