//! The conservation equation of one activity: store and ledger side by side, in units.
//!
//! ```text
//! accepted    = queued + dead + succeeded + failed
//! succeeded   = orders_live + orders_cancelled
//! stock_total = stock_left + queued + dead + orders_live + returned
//! ```
//! What is left, accepted and queued comes from the store; the rest is counted from the ledger's rows. It only reads.

use seckill_ledger::Tally;
use seckill_sale::{ActivityId, Figures, Status};
use serde::Serialize;

use crate::{Error, Operator};

/// All figures of one activity, in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Audit {
    /// Units ever given to the sale.
    pub stock_total: u64,
    /// Units that can still be sold.
    pub stock_left: u64,
    /// Units of every buyer ever admitted.
    pub accepted: u64,
    /// Units of tickets without a final result, dead ones aside.
    pub queued: u64,
    /// Units of tickets that became orders.
    pub succeeded: u64,
    /// Units of tickets that failed.
    pub failed: u64,
    /// Units of dead letters.
    pub dead: u64,
    /// Units of orders that are paid or wait for payment.
    pub orders_live: u64,
    /// Units of cancelled and expired orders.
    pub orders_cancelled: u64,
    /// Units given back to the product.
    pub returned: u64,
    /// Whether the equation holds; none where it could not be read stably, or where the ledger has results that the store has not got yet.
    pub balanced: Option<bool>,
}

/// Readings before it is called unstable.
const READINGS_MAX: u32 = 5;

/// What the store said before and after the ledger was counted.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) before: Figures,
    pub(crate) tally: Tally,
    after: Figures,
}

impl Reading {
    /// Nothing moved while it was read, and the ledger is not ahead of the store.
    pub(crate) fn is_stable(&self) -> bool {
        self.before.revision == self.after.revision
            && self.before.leased_tickets == 0
            && self.after.leased_tickets == 0
            && self.tally.last_store_movement <= self.after.applied_movement
    }
}

impl Operator {
    /// Counts everything.
    ///
    /// # Errors
    /// [`seckill_ledger::Error::NotFound`]; a layer that can't be reached.
    pub async fn audit(&self, id: ActivityId) -> Result<Audit, Error> {
        let audit = self.count(id).await?;
        self.audited.lock().insert(id, audit.balanced);
        Ok(audit)
    }

    /// What the last audit of the sale found, as [`Audit::balanced`]; none where there was none since the start.
    #[must_use]
    pub fn last_balanced(&self, id: ActivityId) -> Option<bool> {
        self.audited.lock().get(&id).copied().flatten()
    }

    async fn count(&self, id: ActivityId) -> Result<Audit, Error> {
        let mut last = Audit::default();
        for _ in 0..READINGS_MAX {
            let Some(reading) = self.reading(id).await? else {
                return self.audit_of_ledger(id).await;
            };
            let Reading { before, tally, after } = &reading;
            last = audit(tally, &before.into(), None);
            // Every unit is in one pool only, so the equation can't hold by a worker that is between ledger and store; it can fail by him.
            if before.revision == after.revision && holds(before, tally) {
                last.balanced = Some(true);
                return Ok(last);
            }
            if reading.is_stable() {
                let halfway = self.is_halfway(id, before).await?;
                if !halfway && !self.has_stayed(id, before).await? {
                    continue;
                }
                last.balanced = (!halfway).then_some(false);
                return Ok(last);
            }
        }
        Ok(last)
    }

    /// The store, the ledger, the store again; none where the store has no state.
    pub(crate) async fn reading(&self, id: ActivityId) -> Result<Option<Reading>, Error> {
        let Some(before) = self.layers.stock.figures(id).await? else {
            return Ok(None);
        };
        let tally = self.layers.ledger.tally(id).await?;
        let after = self.layers.stock.figures(id).await?;
        Ok(after.map(|after| Reading { before, tally, after }))
    }

    /// A sale that the store does not know: not preheated yet, or forgotten after closing. Whatever was queued in a state that was lost is not known.
    async fn audit_of_ledger(&self, id: ActivityId) -> Result<Audit, Error> {
        let activity = self.layers.ledger.activity(id).await?;
        let tally = self.layers.ledger.tally(id).await?;
        let store = StoreUnits {
            left: tally.available.saturating_sub(tally.dead),
            accepted: tally.succeeded + tally.failed + tally.dead,
            queued: 0,
        };
        let lost = activity.epoch.is_some() && activity.status != Status::Closed;
        let orders = tally.succeeded == tally.orders_live + tally.orders_cancelled;
        let balanced = (!lost).then_some(orders && stock_row_holds(&tally));
        Ok(audit(&tally, &store, balanced))
    }
}

/// The part of the equation that the store knows.
struct StoreUnits {
    left: u64,
    accepted: u64,
    queued: u64,
}

impl From<&Figures> for StoreUnits {
    fn from(figures: &Figures) -> Self {
        Self {
            left: figures.stock_left,
            accepted: figures.accepted,
            queued: figures.queued,
        }
    }
}

fn audit(tally: &Tally, store: &StoreUnits, balanced: Option<bool>) -> Audit {
    Audit {
        stock_total: tally.stock_total,
        stock_left: store.left,
        accepted: store.accepted,
        queued: store.queued,
        succeeded: tally.succeeded,
        failed: tally.failed,
        dead: tally.dead,
        orders_live: tally.orders_live,
        orders_cancelled: tally.orders_cancelled,
        returned: tally.returned,
        balanced,
    }
}

/// Whether all equations hold.
fn holds(figures: &Figures, tally: &Tally) -> bool {
    let tickets = figures.accepted == figures.queued + tally.dead + tally.succeeded + tally.failed;
    let orders = tally.succeeded == tally.orders_live + tally.orders_cancelled;
    let units =
        tally.stock_total == figures.stock_left + figures.queued + tally.dead + tally.orders_live + tally.returned;
    tickets && orders && units && figures.dead == tally.dead && stock_row_holds(tally)
}

/// The guarded counter of the stock row, against the rows that it stands for.
const fn stock_row_holds(tally: &Tally) -> bool {
    tally.stock_total == tally.available + tally.orders_live + tally.returned
}
