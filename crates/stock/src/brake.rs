//! What an operator stops without the ledger: a sale that is held, and switches that shut the entrance.
//!
//! Both are durable when the call returns. The store remembers them until whoever writes them into the ledger says that it has them.
//!
//! A store whose disk hangs takes holds and their ends all the same and says [`Error::OutcomeUnknown`]: it does them when the disk is back,
//! or, where it has no space for one then, does not do that one, which nobody hears. Switches it does not take: [`Error::Unavailable`].

use async_trait::async_trait;
use seckill_sale::{ActivityId, Epoch, Hold, Status};

use crate::Error;

/// Whether a sale admits anybody, as its state says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The epoch of the state: a later one may be an earlier state that was brought back.
    pub epoch: Epoch,
    /// How it is held.
    pub hold: Option<Hold>,
    /// [`Status::Running`] where it admits, [`Status::Paused`] where it is held or its rules say so; none where it does neither,
    /// or the store does not tell a pause by the rules from the end.
    pub status: Option<Status>,
}

/// The emergency brake.
///
/// Holds and their ends are done in the order in which they are asked for, also where nobody waits for the answers of the earlier ones.
/// [`crate::Stock::figures`] that are asked for after them are answered behind them, and [`Brake::held`] shows then what they came to.
#[async_trait]
pub trait Brake: Send + Sync + 'static {
    /// Admits nobody to the sale until the hold is released, whatever its rules say. A later hold takes the place of an earlier one.
    ///
    /// # Errors
    /// [`Error::NotReady`] where the sale has no state. [`Error::OutcomeUnknown`] where the store has taken it and does not answer.
    async fn hold(&self, activity: ActivityId, hold: Hold) -> Result<(), Error>;

    /// Ends `hold`; changes nothing where the sale is held otherwise, or not at all.
    ///
    /// # Errors
    /// As [`Brake::hold`]; a sale without state is not held.
    async fn release(&self, activity: ActivityId, hold: Hold) -> Result<(), Error>;

    /// How the sale is held. Costs no IO.
    fn held(&self, activity: ActivityId) -> Option<Hold> {
        self.standing(activity)?.hold
    }

    /// What the state says that is known of the sale; none where none is known. Costs no IO.
    fn standing(&self, activity: ActivityId) -> Option<Standing>;

    /// Keeps switches, as text, for the ledger, or none once it has them: in the place of `instead_of`, which were seen to be kept. Gives what
    /// is kept now: `switches`, or what others have had kept meanwhile, which stays. At most [`SWITCHES_BYTES_MAX`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the store is known to hang: nothing is kept, now or later. [`Error::NotReady`] where the text is too long.
    async fn keep_switches(
        &self,
        instead_of: Option<String>,
        switches: Option<String>,
    ) -> Result<Option<String>, Error>;

    /// The switches that are kept.
    async fn kept_switches(&self) -> Result<Option<String>, Error>;

    /// Says which switches wait for their turn at `node`, as text, in the place of what it said before; none: nothing waits there. Gives what
    /// waits at other nodes: each text for [`WAITING_MS`] since its node has said it last. This is kept for nobody's restart, and may be lost
    /// at any time: who has something that waits says it again and again. At most [`SWITCHES_BYTES_MAX`].
    ///
    /// # Errors
    /// As every command of a store; [`Error::NotReady`] where the text is too long.
    async fn tell_waiting(&self, node: &str, waiting: Option<String>) -> Result<Vec<String>, Error>;
}

/// How long what waits at a node that says nothing more counts at the others, in milliseconds: it may have ended.
pub const WAITING_MS: i64 = 5_000;

/// Longest text of switches that are kept, or wait, in bytes.
pub const SWITCHES_BYTES_MAX: usize = 4_096;
