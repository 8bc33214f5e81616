//! Units of an activity, counted from its rows in one reading: what the audit compares.

use std::collections::HashMap;

use super::db::Transaction;
use seckill_ledger::Tally;
use seckill_sale::ActivityId;

use super::errors::{Stop, found};
use super::rows::{SqlResult, small, unsigned};

/// Units by state, each counted from its rows.
pub(super) fn tally(transaction: &Transaction<'_>, id: ActivityId) -> Result<Tally, Stop> {
    let stock = transaction
        .prepare_cached("SELECT total, available FROM stock WHERE activity_id = ?1")?
        .query_row([small(id.get())], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)));
    let (stock_total, available) = found(stock, "activity")?;
    let sums = |sql: &str| -> Result<HashMap<i64, u64>, Stop> {
        let mut statement = transaction.prepare_cached(sql)?;
        let rows = statement.query_map([small(id.get())], |row| Ok((row.get(0)?, unsigned(row, 1)?)))?;
        Ok(rows.collect::<SqlResult<_>>()?)
    };
    let records =
        sums("SELECT state, CAST(sum(quantity) AS BIGINT) FROM records WHERE activity_id = ?1 GROUP BY state")?;
    let orders = sums("SELECT state, CAST(sum(quantity) AS BIGINT) FROM orders WHERE activity_id = ?1 GROUP BY state")?;
    let of = |sums: &HashMap<i64, u64>, states: &[i64]| states.iter().filter_map(|state| sums.get(state)).sum::<u64>();
    let (returned, last_store_movement) = transaction
        .prepare_cached(
            "SELECT CAST(coalesce(sum(CASE WHEN kind IN ('unsold_returned', 'failed_to_product', 'cancelled_to_product')
                    THEN units ELSE 0 END), 0) AS BIGINT),
                coalesce(max(CASE WHEN units > 0 AND kind IN ('added', 'unsold_returned', 'cancelled_to_sale')
                    THEN id ELSE 0 END), 0)
             FROM stock_movements WHERE activity_id = ?1",
        )?
        .query_row([small(id.get())], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))?;
    Ok(Tally {
        stock_total,
        available,
        succeeded: of(&records, &[1]),
        failed: of(&records, &[2]),
        dead: of(&records, &[0]),
        orders_live: of(&orders, &[0, 1]),
        orders_cancelled: of(&orders, &[2, 3]),
        returned,
        last_store_movement,
    })
}
