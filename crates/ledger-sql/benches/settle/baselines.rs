//! What settling is measured against: plain inserts of the same rows, and one order a transaction.

use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, TransactionBehavior, params};
use seckill_sale::UserId;

use crate::sqlite::open;
use crate::{NOW, Outcome, deliveries};

/// The same rows into the same tables, with nothing read and nothing guarded.
pub(crate) fn insert(file: &Path, users: &[UserId], batch: usize, with_records: bool) -> Outcome<f64> {
    const ROWS: usize = 64;
    let (ledger, activity) = open(file)?;
    drop(ledger);
    let tickets = deliveries(&activity, users);
    let mut connection = connect(file)?;
    let begun = Instant::now();
    for tickets in tickets.chunks(batch) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for rows in tickets.chunks(ROWS) {
            let values = vec!["(?, 1, 1, ?, 1, 1000, 1000, 'CNY', 0, ?, ?)"; rows.len()].join(", ");
            let mut statement = transaction.prepare_cached(&format!(
                "INSERT INTO orders (order_no, activity_id, product_id, user_id, quantity, price_cents, amount_cents, currency,
                    state, created_at, pay_deadline) VALUES {values}"
            ))?;
            for (place, ticket) in rows.iter().enumerate() {
                statement.raw_bind_parameter(place * 4 + 1, ticket.ticket.order_no().to_string())?;
                statement.raw_bind_parameter(place * 4 + 2, ticket.user.as_str())?;
                statement.raw_bind_parameter(place * 4 + 3, NOW.0)?;
                statement.raw_bind_parameter(place * 4 + 4, NOW.0 + 900_000)?;
            }
            statement.raw_execute()?;
        }
        for rows in tickets.chunks(ROWS).filter(|_| with_records) {
            let values = vec!["(1, ?, 1, ?, 1, ?, ?, 1)"; rows.len()].join(", ");
            let mut statement = transaction.prepare_cached(&format!(
                "INSERT INTO records (activity_id, user_id, epoch, sequence, quantity, request_key, accepted_at, state)
                 VALUES {values}"
            ))?;
            for (place, ticket) in rows.iter().enumerate() {
                statement.raw_bind_parameter(place * 4 + 1, ticket.user.as_str())?;
                statement.raw_bind_parameter(place * 4 + 2, ticket.ticket.sequence.cast_signed())?;
                statement.raw_bind_parameter(place * 4 + 3, &ticket.key.0[..])?;
                statement.raw_bind_parameter(place * 4 + 4, ticket.accepted_at.0)?;
            }
            statement.raw_execute()?;
        }
        transaction.commit()?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let orders: i64 = connection.query_row("SELECT count(*) FROM orders", [], |row| row.get(0))?;
    assert_eq!(orders, i64::try_from(users.len())?);
    Ok(seconds)
}

/// As many tutorials do it: read the stock row, deduct by its version, insert the order, commit.
pub(crate) fn one_order_a_transaction(file: &Path, users: &[UserId]) -> Outcome<f64> {
    let mut connection = connect(file)?;
    connection.execute_batch(
        "CREATE TABLE stock (activity_id INTEGER PRIMARY KEY, available INTEGER NOT NULL, version INTEGER NOT NULL) STRICT;
         CREATE TABLE orders (id INTEGER PRIMARY KEY, activity_id INTEGER NOT NULL, user_id TEXT NOT NULL,
            status INTEGER NOT NULL, created_at INTEGER NOT NULL, UNIQUE (activity_id, user_id)) STRICT;",
    )?;
    connection.execute("INSERT INTO stock VALUES (1, ?1, 0)", [i64::try_from(users.len())?])?;
    let begun = Instant::now();
    for user in users {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (available, version): (i64, i64) = transaction
            .prepare_cached("SELECT available, version FROM stock WHERE activity_id = 1")?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        assert!(0 < available);
        let deducted = transaction
            .prepare_cached(
                "UPDATE stock SET available = available - 1, version = version + 1 WHERE activity_id = 1 AND version = ?1",
            )?
            .execute([version])?;
        assert_eq!(deducted, 1);
        transaction
            .prepare_cached("INSERT INTO orders (activity_id, user_id, status, created_at) VALUES (1, ?1, 1, ?2)")?
            .execute(params![user.as_str(), NOW.0])?;
        transaction.commit()?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let left: i64 = connection.query_row("SELECT available FROM stock", [], |row| row.get(0))?;
    assert_eq!(left, 0);
    Ok(seconds)
}

/// Set up as the ledger sets its own connections up.
fn connect(file: &Path) -> Outcome<Connection> {
    let connection = Connection::open(file)?;
    for (pragma, value) in [
        ("journal_mode", "WAL"),
        ("synchronous", "FULL"),
        ("wal_autocheckpoint", "4000"),
        ("cache_size", "-65536"),
        ("temp_store", "MEMORY"),
    ] {
        connection.pragma_update(None, pragma, value)?;
    }
    Ok(connection)
}
