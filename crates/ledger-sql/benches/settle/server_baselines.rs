//! What settling on a server is measured against: plain inserts of the same rows by one connection, and one order a transaction by four.

use std::thread;
use std::time::Instant;

use seckill_ledger_sql::{Server, ServerOptions};
use seckill_sale::UserId;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use crate::servers::{Baselines, CONNECTIONS};
use crate::{NOW, Outcome, PAY_WITHIN_MS, batches, block_on, sale};

/// Rows of one statement.
const ROWS: usize = 256;

const ORDERS: &str =
    "INSERT INTO orders (order_no, user_id, created_at, pay_deadline, activity_id, product_id, quantity, price_cents,
    amount_cents, currency, state) VALUES ";
const RECORDS: &str =
    "INSERT INTO records (user_id, sequence, request_key, accepted_at, activity_id, epoch, quantity, state) VALUES ";

/// Rows of four values each, and the rest of each row.
fn rows(head: &str, count: usize, rest: &str, mark: fn(usize) -> String) -> String {
    let row = |at: usize| {
        let marks: Vec<String> = (1..=4).map(|value| mark(at * 4 + value)).collect();
        format!("({}, {rest})", marks.join(", "))
    };
    let rows: Vec<String> = (0..count).map(row).collect();
    format!("{head}{}", rows.join(", "))
}

/// As many tutorials do it.
const TUTORIAL: &str =
    "CREATE TABLE stock (activity_id BIGINT PRIMARY KEY, available BIGINT NOT NULL, version BIGINT NOT NULL);
    CREATE TABLE orders (id BIGINT PRIMARY KEY, activity_id BIGINT NOT NULL, user_id VARCHAR(64) NOT NULL,
        status SMALLINT NOT NULL, created_at BIGINT NOT NULL, UNIQUE (activity_id, user_id));
    INSERT INTO stock VALUES (1, 1000000, 0)";

fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

macro_rules! baselines {
    ($name:ident, $module:ident, $connection:ty, $mark:expr) => {
        pub(crate) const $name: Baselines = Baselines {
            one_by_one: $module::one_by_one,
            plain: $module::plain,
        };

        mod $module {
            use super::*;

            type Connection = $connection;

            async fn connect(url: &str) -> Outcome<Connection> {
                Ok(Connection::connect(&url.replace("mariadb://", "mysql://")).await?)
            }

            pub(super) fn plain(url: &str, users: &[UserId], batch: usize) -> Outcome<f64> {
                let ledger = Server::open(url, ServerOptions::default())?;
                let activity = block_on(sale(&ledger))?;
                drop(ledger);
                let batches = batches(&activity, users, batch);
                runtime()?.block_on(async {
                    let mut connection = connect(url).await?;
                    let begun = Instant::now();
                    for batch in &batches {
                        let mut transaction = connection.begin().await?;
                        for tickets in batch.tickets.chunks(ROWS) {
                            let orders = rows(ORDERS, tickets.len(), "1, 1, 1, 1000, 1000, 'CNY', 0", $mark);
                            let mut query = sqlx::query(AssertSqlSafe(orders));
                            for ticket in tickets {
                                query = query.bind(ticket.ticket.order_no().to_string()).bind(ticket.user.as_str());
                                query = query.bind(NOW.0).bind(NOW.0 + PAY_WITHIN_MS);
                            }
                            query.execute(&mut *transaction).await?;
                            let records = rows(RECORDS, tickets.len(), "1, 1, 1, 1", $mark);
                            let mut query = sqlx::query(AssertSqlSafe(records));
                            for ticket in tickets {
                                query = query.bind(ticket.user.as_str()).bind(ticket.ticket.sequence.cast_signed());
                                query = query.bind(&ticket.key.0[..]).bind(ticket.accepted_at.0);
                            }
                            query.execute(&mut *transaction).await?;
                        }
                        transaction.commit().await?;
                    }
                    Ok(users.len() as f64 / begun.elapsed().as_secs_f64())
                })
            }

            pub(super) fn one_by_one(url: &str, users: &[UserId]) -> Outcome<f64> {
                runtime()?.block_on(async {
                    connect(url).await?.execute(sqlx::raw_sql(TUTORIAL)).await?;
                    Ok::<_, Box<dyn std::error::Error>>(())
                })?;
                let part = users.len().div_ceil(CONNECTIONS);
                let mut writers = Vec::new();
                for (number, users) in users.chunks(part).enumerate() {
                    // Connections are made before, as settling has them.
                    let runtime = runtime()?;
                    let connection = runtime.block_on(connect(url))?;
                    writers.push((runtime, connection, users, number * part));
                }
                let begun = Instant::now();
                thread::scope(|scope| {
                    for (runtime, connection, users, first) in writers {
                        scope.spawn(move || {
                            let work = write(connection, users, first);
                            runtime.block_on(work).expect("the server works");
                        });
                    }
                });
                Ok(users.len() as f64 / begun.elapsed().as_secs_f64())
            }

            async fn write(mut connection: Connection, users: &[UserId], first: usize) -> Outcome<()> {
                let mark: fn(usize) -> String = $mark;
                let deduct = format!("UPDATE stock SET available = available - 1, version = version + 1 WHERE activity_id = 1 AND version = {}", mark(1));
                let insert = format!(
                    "INSERT INTO orders (id, activity_id, user_id, status, created_at) VALUES ({}, 1, {}, 1, {})",
                    mark(1), mark(2), mark(3)
                );
                for (user, id) in users.iter().zip(first..) {
                    let mut transaction = connection.begin().await?;
                    let (available, version): (i64, i64) =
                        sqlx::query_as("SELECT available, version FROM stock WHERE activity_id = 1 FOR UPDATE")
                            .fetch_one(&mut *transaction)
                            .await?;
                    assert!(0 < available);
                    let query = sqlx::query(AssertSqlSafe(deduct.as_str())).bind(version);
                    assert_eq!(query.execute(&mut *transaction).await?.rows_affected(), 1);
                    let query = sqlx::query(AssertSqlSafe(insert.as_str())).bind(i64::try_from(id)?);
                    query.bind(user.as_str()).bind(NOW.0).execute(&mut *transaction).await?;
                    transaction.commit().await?;
                }
                Ok(())
            }
        }
    };
}

baselines!(MARIADB, mariadb, sqlx::MySqlConnection, |_| "?".to_owned());
baselines!(POSTGRES, postgres, sqlx::PgConnection, |number| format!("${number}"));
