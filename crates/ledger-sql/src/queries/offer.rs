//! What a batch reads of its sale, in one question.

use super::db::Transaction;
use seckill_ledger::Conflict;
use seckill_sale::{ActivityId, Currency, EpochMs, Price, ProductId};

use super::errors::{Stop, found};
use super::rows::{moment, number, small, text, unsigned};

/// The stock row, and what each order takes from the activity.
pub(super) struct Offer {
    pub(super) available: u64,
    pub(super) version: u64,
    pub(super) product: ProductId,
    pub(super) price: Price,
    pub(super) currency: Currency,
    created_at: EpochMs,
}

impl Offer {
    /// Refuses tickets of a sale that had this number before the database was restored.
    pub(super) fn check_sale(&self, created_at: Option<EpochMs>) -> Result<(), Stop> {
        match created_at {
            Some(of) if of != self.created_at => Err(Conflict::AnotherSale.into()),
            _ => Ok(()),
        }
    }
}

pub(super) fn offer(transaction: &Transaction<'_>, id: ActivityId) -> Result<Offer, Stop> {
    let mut statement = transaction.prepare_cached(
        "SELECT s.available, s.version, a.product_id, a.seckill_price_cents, a.currency, a.created_at
         FROM stock s JOIN activities a ON a.id = s.activity_id WHERE s.activity_id = ?1",
    )?;
    let row = statement.query_row([small(id.get())], |row| {
        Ok(Offer {
            available: unsigned(row, 0)?,
            version: unsigned(row, 1)?,
            product: number(row, 2)?,
            price: number(row, 3)?,
            currency: text(row, 4, Currency::new)?,
            created_at: moment(row, 5)?,
        })
    });
    found(row, "activity")
}
