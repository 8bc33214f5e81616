//! What SQLite says in its own way. A transaction that may write is the only one from its beginning: there is nothing to lock.

use rusqlite::{Row, Transaction, params};
use seckill_ledger::DeadLetterId;
use seckill_sale::{ActivityId, EpochMs, OrderNo};

use super::db::SqlResult;
use super::errors::Stop;

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
