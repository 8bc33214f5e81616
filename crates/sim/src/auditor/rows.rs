//! The books as the auditor reads them: his own SQL on the ledger's tables, every row as plain numbers and words.

mod letters;
mod rounds;

use std::collections::BTreeMap;

use rusqlite::{Connection, Result, Row};

pub(crate) use letters::LetterRow;
use letters::{LETTERS, letter};
pub(crate) use rounds::RoundRow;
use rounds::{ROUNDS, round};

/// A ticket by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TicketNumber {
    pub(crate) activity: i64,
    pub(crate) epoch: i64,
    pub(crate) sequence: i64,
}

/// A row of `orders`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderRow {
    pub(crate) order_no: String,
    pub(crate) activity: i64,
    pub(crate) user: String,
    pub(crate) quantity: i64,
    pub(crate) price: i64,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) state: i64,
    pub(crate) pay_deadline: i64,
    pub(crate) paid_at: Option<i64>,
    pub(crate) ended_at: Option<i64>,
}

/// A row of `records`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordRow {
    pub(crate) ticket: TicketNumber,
    pub(crate) quantity: i64,
    pub(crate) key: Vec<u8>,
    pub(crate) accepted_at: i64,
    pub(crate) state: i64,
    pub(crate) reason: Option<String>,
}

/// A row of `stock_movements`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MovementRow {
    pub(crate) activity: i64,
    pub(crate) kind: String,
    pub(crate) units: i64,
}

/// A row of `payments`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PaymentRow {
    pub(crate) order_no: String,
    pub(crate) amount: i64,
    pub(crate) outcome: String,
}

/// A row of `stock`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StockRow {
    pub(crate) total: i64,
    pub(crate) available: i64,
}

/// Everything that the ledger says, as of one commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Books {
    /// Units by product.
    pub(crate) products: BTreeMap<i64, i64>,
    /// Product and status by activity.
    pub(crate) activities: BTreeMap<i64, (i64, String)>,
    /// By activity, whether or not it is a round.
    pub(crate) rounds: BTreeMap<i64, RoundRow>,
    pub(crate) stock: BTreeMap<i64, StockRow>,
    pub(crate) orders: BTreeMap<i64, OrderRow>,
    /// By activity and user.
    pub(crate) records: BTreeMap<(i64, String), RecordRow>,
    pub(crate) movements: BTreeMap<i64, MovementRow>,
    pub(crate) letters: BTreeMap<i64, LetterRow>,
    pub(crate) payments: BTreeMap<String, PaymentRow>,
    /// Amount by payment.
    pub(crate) refunds: BTreeMap<String, i64>,
    pub(crate) settled_batch: i64,
    /// Revision and text.
    pub(crate) switches: Option<(i64, String)>,
}

impl Books {
    /// Reads all rows.
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        Ok(Self {
            products: table(connection, "SELECT id, stock FROM products", |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?,
            activities: table(connection, "SELECT id, product_id, status FROM activities", |row| {
                Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))
            })?,
            rounds: table(connection, ROUNDS, round)?,
            stock: table(connection, "SELECT activity_id, total, available FROM stock", |row| {
                let (total, available) = (row.get(1)?, row.get(2)?);
                Ok((row.get(0)?, StockRow { total, available }))
            })?,
            orders: table(connection, ORDERS, order)?,
            records: table(connection, RECORDS, record)?,
            movements: table(
                connection,
                "SELECT id, activity_id, kind, units FROM stock_movements",
                |row| {
                    let (activity, kind, units) = (row.get(1)?, row.get(2)?, row.get(3)?);
                    Ok((row.get(0)?, MovementRow { activity, kind, units }))
                },
            )?,
            letters: table(connection, LETTERS, letter)?,
            payments: table(
                connection,
                "SELECT id, order_no, amount_cents, outcome FROM payments",
                |row| {
                    let (order_no, amount, outcome) = (row.get(1)?, row.get(2)?, row.get(3)?);
                    Ok((
                        row.get(0)?,
                        PaymentRow {
                            order_no,
                            amount,
                            outcome,
                        },
                    ))
                },
            )?,
            refunds: table(connection, "SELECT payment_id, amount_cents FROM refunds", |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?,
            settled_batch: connection.query_row("SELECT settled_batch FROM installation", [], |row| row.get(0))?,
            switches: table(connection, "SELECT revision, json FROM switches", |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .pop_last(),
        })
    }

    /// Units of the orders of a sale that are in one of these states.
    pub(crate) fn ordered(&self, activity: i64, states: &[i64]) -> i64 {
        let orders = self.orders.values();
        let counted = orders.filter(|order| order.activity == activity && states.contains(&order.state));
        counted.map(|order| order.quantity).sum()
    }

    /// Units of the movements of a sale that are of one of these kinds.
    pub(crate) fn moved(&self, activity: i64, kinds: &[&str]) -> i64 {
        let movements = self.movements.values();
        let counted = movements.filter(|row| row.activity == activity && kinds.contains(&row.kind.as_str()));
        counted.map(|row| row.units).sum()
    }

    /// Units of the records of a sale that are in this state.
    pub(crate) fn recorded(&self, activity: i64, state: i64) -> i64 {
        let records = self.records.values();
        let counted = records.filter(|record| record.ticket.activity == activity && record.state == state);
        counted.map(|record| record.quantity).sum()
    }
}

/// Kinds of movement by which units go back to the product.
pub(crate) const RETURNS: [&str; 3] = ["unsold_returned", "failed_to_product", "cancelled_to_product"];

const ORDERS: &str = "SELECT id, order_no, activity_id, user_id, quantity, price_cents, amount_cents, currency, state,
    pay_deadline, paid_at, ended_at FROM orders";

fn order(row: &Row<'_>) -> Result<(i64, OrderRow)> {
    let order = OrderRow {
        order_no: row.get(1)?,
        activity: row.get(2)?,
        user: row.get(3)?,
        quantity: row.get(4)?,
        price: row.get(5)?,
        amount: row.get(6)?,
        currency: row.get(7)?,
        state: row.get(8)?,
        pay_deadline: row.get(9)?,
        paid_at: row.get(10)?,
        ended_at: row.get(11)?,
    };
    Ok((row.get(0)?, order))
}

const RECORDS: &str = "SELECT activity_id, epoch, sequence, user_id, quantity, request_key, accepted_at, state, reason
    FROM records";

fn record(row: &Row<'_>) -> Result<((i64, String), RecordRow)> {
    let ticket = ticket(row)?;
    let record = RecordRow {
        ticket,
        quantity: row.get(4)?,
        key: row.get(5)?,
        accepted_at: row.get(6)?,
        state: row.get(7)?,
        reason: row.get(8)?,
    };
    Ok(((ticket.activity, row.get(3)?), record))
}

fn ticket(row: &Row<'_>) -> Result<TicketNumber> {
    Ok(TicketNumber {
        activity: row.get(0)?,
        epoch: row.get(1)?,
        sequence: row.get(2)?,
    })
}

fn table<K: Ord, V>(
    connection: &Connection,
    sql: &str,
    read: impl Fn(&Row<'_>) -> Result<(K, V)>,
) -> Result<BTreeMap<K, V>> {
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map([], |row| read(row))?.collect()
}
