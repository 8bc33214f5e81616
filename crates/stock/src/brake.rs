//! What an operator stops without the ledger: a sale that is held, and switches that shut the entrance.
//!
//! Both are durable when the call returns. The store remembers them until whoever writes them into the ledger says that it has them.

use async_trait::async_trait;
use seckill_sale::{ActivityId, Hold};

use crate::Error;

/// The emergency brake.
#[async_trait]
pub trait Brake: Send + Sync + 'static {
    /// Admits nobody to the sale until the hold is released, whatever its rules say. A later hold takes the place of an earlier one.
    ///
    /// # Errors
    /// [`Error::NotReady`] where the sale has no state.
    async fn hold(&self, activity: ActivityId, hold: Hold) -> Result<(), Error>;

    /// Ends `hold`; changes nothing where the sale is held otherwise, or not at all.
    async fn release(&self, activity: ActivityId, hold: Hold) -> Result<(), Error>;

    /// How the sale is held. Costs no IO.
    fn held(&self, activity: ActivityId) -> Option<Hold>;

    /// Keeps switches, as text, for the ledger; none once it has them. At most [`SWITCHES_BYTES_MAX`].
    async fn keep_switches(&self, switches: Option<String>) -> Result<(), Error>;

    /// The switches that are kept.
    async fn kept_switches(&self) -> Result<Option<String>, Error>;
}

/// Longest text of kept switches, in bytes.
pub const SWITCHES_BYTES_MAX: usize = 4_096;
