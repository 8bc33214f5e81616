//! What a state is built from.

use seckill_sale::{Epoch, Opened, Restored, Shards};

/// Everything a rebuilt state consists of.
#[derive(Debug, Clone)]
pub struct Opening {
    /// Rules, epoch, units, next sequence, applied movement.
    pub opened: Opened,
    /// Sub-stocks that the sale is split into, for as long as its state lasts. A store in one process keeps it in one piece all the same.
    pub shards: Shards,
    /// Buyers already known to the ledger.
    pub buyers: Vec<Restored>,
    /// Epoch of the state that is given up for this one; none: a state that is there stays.
    pub replaces: Option<Epoch>,
    /// So long, once it is built, tickets of a lost state are taken up, and claims hear that the sale recovers; in milliseconds. A store that
    /// loses no states needs none.
    pub grace_ms: u64,
}
