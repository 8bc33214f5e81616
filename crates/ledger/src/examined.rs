//! What a database says of itself before a sale.

use std::sync::Arc;

use async_trait::async_trait;
use seckill_sale::{ActivityId, Clock, Finding};

/// A database that can be looked over.
#[async_trait]
pub trait Examined: Send + Sync + 'static {
    /// Looks at the database and at what a session of ours may do there; changes nothing. What can't be looked at is a finding, too. `clock`
    /// is this node's.
    ///
    /// Areas: `connection`, `version`, `schema`, `keys`, `collation`, `isolation`, `durability`, `connections`, `clock`, `rows`, `writes`. The
    /// last one takes what a batch takes to be written, and the stock row of `sale` where one is given: a database that is locked, full up or
    /// read-only answers questions all the same.
    async fn examine(&self, clock: Arc<dyn Clock>, sale: Option<ActivityId>) -> Vec<Finding>;
}
