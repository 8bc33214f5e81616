//! Ends orders whose payment deadline has passed, in batches of one transaction each.
//!
//! Two sweeps at once, or one that was asleep for an hour, end each order once: the ledger guards every order by the state it starts from.

use std::collections::BTreeSet;

use seckill_sale::EpochMs;

use crate::{Error, Operator};

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Orders that expired.
    pub orders: u64,
    /// Whether more are due already: sweep again.
    pub more: bool,
}

/// Orders of one transaction: the stock row is not held for long, and memory stays as it is however many are due.
pub const ORDERS_A_BATCH: u32 = 1_000;

/// Batches of one sweep, so that a scheduler with 100,000 due orders does its other work in between.
pub const BATCHES_A_SWEEP: u32 = 10;

impl Operator {
    /// Expires orders that are due at `now`, at most [`BATCHES_A_SWEEP`] batches.
    ///
    /// # Errors
    /// The ledger could not be reached. What was expired before stays expired.
    pub async fn sweep(&self, now: EpochMs) -> Result<Swept, Error> {
        let mut swept = Swept::default();
        for _ in 0..BATCHES_A_SWEEP {
            let on_cancel = self.settings.units_on_cancel;
            let expired = self.layers.ledger.expire_due(now, ORDERS_A_BATCH, on_cancel).await?;
            swept.orders += expired.orders;
            swept.more = expired.orders >= u64::from(ORDERS_A_BATCH);
            let moved = expired.movements.iter().filter(|movement| movement.store_delta() != 0);
            let activities: BTreeSet<_> = moved.map(|movement| movement.activity).collect();
            for activity in activities {
                self.apply_movements_or_later(activity).await;
            }
            if !swept.more {
                break;
            }
        }
        if swept.orders != 0 {
            tracing::info!(orders = swept.orders, more = swept.more, "orders expired");
        }
        Ok(swept)
    }
}
