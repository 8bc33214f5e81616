//! The conservation equation as the server tells it, calculated anew.

use serde::{Deserialize, Serialize};

/// An activity's conservation equation, in units, as the server tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// Units the sale was given.
    pub stock_total: u64,
    /// Units that nobody has claimed.
    pub stock_left: u64,
    /// Units claimed.
    pub accepted: u64,
    /// Claimed, not settled and not dead.
    pub queued: u64,
    /// Settled as an order.
    pub succeeded: u64,
    /// Settled as a failure.
    pub failed: u64,
    /// In dead letters.
    pub dead: u64,
    /// In orders that stand.
    pub orders_live: u64,
    /// In orders that were cancelled or have expired.
    pub orders_cancelled: u64,
    /// Given back to the product.
    pub returned: u64,
    /// Whether the server finds it in balance; `None` while it could not be read stably.
    pub balanced: Option<bool>,
}

impl Audit {
    /// What of the equation doesn't hold, calculated here and not taken from `balanced`.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut equal = |name: &str, left: u64, right: u64| {
            if left != right {
                faults.push(format!("{name}: {left} is not {right}"));
            }
        };
        equal(
            "accepted = queued + dead + succeeded + failed",
            self.accepted,
            self.queued + self.dead + self.succeeded + self.failed,
        );
        equal(
            "succeeded = live + cancelled orders",
            self.succeeded,
            self.orders_live + self.orders_cancelled,
        );
        let held = self.stock_left + self.queued + self.dead + self.orders_live + self.returned;
        equal(
            "stock = left + queued + dead + live orders + returned",
            self.stock_total,
            held,
        );
        if self.balanced != Some(true) {
            faults.push(format!("the server's own audit says balanced = {:?}", self.balanced));
        }
        faults
    }
}
