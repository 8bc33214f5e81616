//! What SQLite says in its own way. A transaction that may write is the only one from its beginning: there is nothing to lock.

use rusqlite::{Row, Transaction, params};
use seckill_ledger::{DeadLetterId, Error};
use seckill_sale::{ActivityId, EpochMs, OrderNo};

use super::db::{CachedStatement, SqlResult};
use super::errors::Stop;
use crate::gathering::Gathering;
use crate::settle_plan::SaleLock;

/// Rows of one statement, largest first; the last is 1, so that every number of rows can be made of them.
pub(crate) const INSERT_SIZES: [usize; 3] = [64, 8, 1];

/// One statement for all rows, where their columns can be parameters.
#[expect(clippy::unnecessary_wraps, reason = "as the other dialect gives it")]
pub(crate) const fn gathering<'t>(_: &'t Transaction<'_>, _: &Gathering) -> SqlResult<Option<CachedStatement<'t>>> {
    Ok(None)
}

/// One writer at a time: its lock is there before it begins.
pub(crate) const fn sale_lock(_: &Transaction<'_>) -> SaleLock {
    SaleLock::First
}

/// What was read under the lock has changed.
pub(crate) fn overtaken() -> Stop {
    Stop::Ledger(Error::Outage("the stock row changed under its lock".to_owned()))
}

pub(crate) fn lock_sale(_: &Transaction<'_>, _: ActivityId) -> Result<(), Stop> {
    Ok(())
}

pub(crate) fn lock_order(_: &Transaction<'_>, _: OrderNo) -> Result<(), Stop> {
    Ok(())
}

pub(crate) fn lock_letter(_: &Transaction<'_>, _: DeadLetterId) -> Result<(), Stop> {
    Ok(())
}

pub(crate) fn lock_schedule(_: &Transaction<'_>, _: u64) -> Result<(), Stop> {
    Ok(())
}

pub(crate) fn lock_house(_: &Transaction<'_>) -> Result<(), Stop> {
    Ok(())
}

/// Counts a settlement batch and gives its number.
pub(crate) fn count_batch(transaction: &Transaction<'_>) -> Result<u64, Stop> {
    let mut statement = transaction.prepare_cached(
        "UPDATE installation SET settled_batch = settled_batch + 1 WHERE id = 1 RETURNING settled_batch",
    )?;
    Ok(statement.query_row([], |row| row.get::<_, i64>(0).map(i64::cast_unsigned))?)
}

/// Expires the oldest orders that are due and shows the activity and the units of each.
pub(crate) fn expire_orders(
    transaction: &Transaction<'_>,
    now: EpochMs,
    limit: u32,
    mut expired: impl FnMut(&Row<'_>) -> SqlResult<()>,
) -> Result<(), Stop> {
    // The literal state is what lets SQLite use the index of pending orders.
    let mut statement = transaction.prepare_cached(
        "UPDATE orders SET state = 3, ended_at = ?1 WHERE id IN (
            SELECT id FROM orders WHERE state = 0 AND pay_deadline <= ?1 ORDER BY pay_deadline, id LIMIT ?2
         ) RETURNING activity_id, quantity",
    )?;
    let mut rows = statement.query(params![now.0, limit])?;
    while let Some(row) = rows.next()? {
        expired(row)?;
    }
    Ok(())
}
