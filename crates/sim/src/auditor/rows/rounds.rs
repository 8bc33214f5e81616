//! Activities that are, or should be, rounds of a recurring sale.

use rusqlite::{Result, Row};

/// An activity with the round that it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RoundRow {
    /// Schedule and start; none where it is no round.
    pub(crate) round: Option<(i64, i64)>,
    pub(crate) product: i64,
    pub(crate) price: i64,
    pub(crate) limit: i64,
    pub(crate) starts_at: i64,
    pub(crate) ends_at: i64,
}

pub(super) const ROUNDS: &str =
    "SELECT a.id, r.schedule_id, r.round, a.product_id, a.seckill_price_cents, a.per_user_limit,
    a.starts_at, a.ends_at FROM activities a LEFT JOIN schedule_rounds r ON r.activity_id = a.id";

pub(super) fn round(row: &Row<'_>) -> Result<(i64, RoundRow)> {
    let (schedule, start): (Option<i64>, Option<i64>) = (row.get(1)?, row.get(2)?);
    let found = RoundRow {
        round: schedule.zip(start),
        product: row.get(3)?,
        price: row.get(4)?,
        limit: row.get(5)?,
        starts_at: row.get(6)?,
        ends_at: row.get(7)?,
    };
    Ok((row.get(0)?, found))
}
