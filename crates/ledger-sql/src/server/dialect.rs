//! Locks that a writer takes before it reads what it will change, and what servers say in their own way.
//!
//! Order of locks: letter's sale, letter · schedule · order, then sale, then product, then the house. Two transactions that come in
//! each other's way all the same are undone by the server and done again.

use seckill_ledger::DeadLetterId;
use seckill_sale::{ActivityId, EpochMs, OrderNo};

use super::db::{CachedStatement, Params, Row, SqlResult, Transaction, params};
use super::errors::{SqlError, Stop};
use super::translate::Family;
use crate::gathering::Gathering;
use crate::settle_plan::SaleLock;

/// Rows of one statement, largest first; the last is 1, so that every number of rows can be made of them.
pub(crate) const INSERT_SIZES: [usize; 4] = [256, 64, 8, 1];

/// Waits for the row and keeps others from it until the end; a row that is not there locks nothing.
fn lock(transaction: &Transaction<'_>, query: &str, params: impl Params) -> Result<(), Stop> {
    transaction.prepare_cached(query)?.exists(params)?;
    Ok(())
}

/// One lock for an activity with its stock row: whoever changes either takes it first, but for a batch that only sells: its stock row is the
/// last that it changes.
pub(crate) fn lock_sale(transaction: &Transaction<'_>, id: ActivityId) -> Result<(), Stop> {
    let query = "SELECT activity_id FROM stock WHERE activity_id = ?1 FOR UPDATE";
    lock(transaction, query, [id.get().cast_signed()])
}

pub(crate) fn lock_order(transaction: &Transaction<'_>, order_no: OrderNo) -> Result<(), Stop> {
    let query = "SELECT id FROM orders WHERE order_no = ?1 FOR UPDATE";
    lock(transaction, query, [order_no.to_string()])
}

/// Settling locks the sale before the letter, and so does this.
pub(crate) fn lock_letter(transaction: &Transaction<'_>, id: DeadLetterId) -> Result<(), Stop> {
    let id = id.cast_signed();
    let sale = "SELECT activity_id FROM stock WHERE activity_id = (SELECT activity_id FROM dead_letters WHERE id = ?1) FOR UPDATE";
    lock(transaction, sale, [id])?;
    lock(
        transaction,
        "SELECT id FROM dead_letters WHERE id = ?1 FOR UPDATE",
        [id],
    )
}

pub(crate) fn lock_schedule(transaction: &Transaction<'_>, id: u64) -> Result<(), Stop> {
    let query = "SELECT id FROM schedules WHERE id = ?1 FOR UPDATE";
    lock(transaction, query, [id.cast_signed()])
}

/// Switches and installation: what there is once.
pub(crate) fn lock_house(transaction: &Transaction<'_>) -> Result<(), Stop> {
    lock(
        transaction,
        "SELECT id FROM installation WHERE id = ?1 FOR UPDATE",
        [1_i64],
    )
}

/// Batches of one sale write side by side at first; what comes in another's way, or finds units short, is done again with the lock first.
pub(crate) fn sale_lock(transaction: &Transaction<'_>) -> SaleLock {
    if transaction.is_repeated {
        SaleLock::First
    } else {
        SaleLock::Last
    }
}

/// What was read without a lock is not so any more: do it again.
pub(crate) fn overtaken() -> Stop {
    Stop::Sql(SqlError::Overtaken)
}

/// Counts a settlement batch and gives its number; 0 where batches are not counted. The last thing a batch does: from here to its commit
/// no other batch can be counted, so that a copy of the database that knows a number knows all batches below it.
pub(crate) fn count_batch(transaction: &Transaction<'_>) -> Result<u64, Stop> {
    if !transaction.counts_batches {
        return Ok(0);
    }
    Ok(match transaction.family() {
        Family::Postgres => {
            let count =
                "UPDATE installation SET settled_batch = settled_batch + 1 WHERE id = ?1 RETURNING settled_batch";
            let mut statement = transaction.prepare_cached(count)?;
            statement.query_row([1_i64], |row| row.get(0).map(i64::cast_unsigned))?
        }
        Family::MySql => {
            // The server tells the number with its thanks, without another question.
            let count = "UPDATE installation SET settled_batch = LAST_INSERT_ID(settled_batch + 1) WHERE id = ?1";
            transaction.prepare_cached(count)?.insert([1_i64])?.cast_unsigned()
        }
    })
}

/// One statement for all rows: PostgreSQL takes their columns as arrays and need not plan for each row.
pub(crate) fn gathering<'t>(
    transaction: &'t Transaction<'_>,
    gathering: &Gathering,
) -> SqlResult<Option<CachedStatement<'t>>> {
    match transaction.family() {
        Family::MySql => Ok(None),
        Family::Postgres => transaction.prepare_gathering(gathering).map(Some),
    }
}

/// Expires the oldest orders that are due and shows the activity and the units of each. Orders that somebody is about to pay, cancel
/// or expire are left to him.
pub(crate) fn expire_orders(
    transaction: &Transaction<'_>,
    now: EpochMs,
    limit: u32,
    mut expired: impl FnMut(&Row<'_>) -> SqlResult<()>,
) -> Result<(), Stop> {
    // In the index's own order: with the id behind it, PostgreSQL would sort all that are due at the same moment.
    let due = "SELECT activity_id, quantity, id FROM orders WHERE state = 0 AND pay_deadline <= ?1
        ORDER BY pay_deadline LIMIT ?2 FOR UPDATE SKIP LOCKED";
    let mut ids: Vec<i64> = Vec::new();
    let rows = transaction
        .prepare_cached(due)?
        .query_map(params![now.0, limit], |row| {
            expired(row)?;
            row.get(2)
        })?
        .collect::<SqlResult<Vec<i64>>>()?;
    ids.extend(rows);
    // In few sizes, so that each statement is prepared once; a number that is there twice changes nothing.
    for slice in ids.chunks(64) {
        let size = if slice.len() <= 8 { 8 } else { 64 };
        let places: Vec<String> = (2..size + 2).map(|place| format!("?{place}")).collect();
        let sql = format!(
            "UPDATE orders SET state = 3, ended_at = ?1 WHERE id IN ({})",
            places.join(", ")
        );
        let mut statement = transaction.prepare_cached(&sql)?;
        statement.raw_bind_parameter(1, now.0)?;
        for place in 0..size {
            statement.raw_bind_parameter(place + 2, slice[place.min(slice.len() - 1)])?;
        }
        statement.raw_execute()?;
    }
    Ok(())
}
