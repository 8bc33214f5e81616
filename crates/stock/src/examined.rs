//! What a store says of itself before a sale: whether its servers keep what they promise, and what of a sale is in place.

use async_trait::async_trait;
use seckill_sale::{ActivityId, Finding};

use crate::Error;

/// A store that can be looked over. One that keeps its own files has nothing that somebody else could have set wrongly, and says nothing.
#[async_trait]
pub trait Examined: Send + Sync + 'static {
    /// Looks at every server that leads. What can't be looked at is a finding, too; nothing that stays is written. A store that says
    /// [`seckill_sale::Severity::Failed`] of itself at its opening does not open.
    async fn examine(&self) -> Vec<Finding> {
        Vec::new()
    }

    /// Looks at the parts of one sale, where it has several.
    ///
    /// # Errors
    /// The sale has no state that can be used, or the store did not answer.
    async fn examine_sale(&self, _activity: ActivityId) -> Result<Vec<Finding>, Error> {
        Ok(Vec::new())
    }
}
