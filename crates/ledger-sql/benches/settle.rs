//! How fast tickets become orders on SQLite, beside two others in the same run: one order a transaction, and plain inserts of the rows.
//!
//! `cargo bench -p seckill-ledger-sql --bench settle -- [tickets of a batch]…`, in the folder that `TMPDIR` names, since the disk's
//! fdatasync decides much of it. Every run starts with an empty file and ends with a count of its orders.
#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use std::path::Path;
use std::time::Instant;

use rand::RngExt as _;
use rusqlite::{Connection, TransactionBehavior, params};
use seckill_ledger::{Catalog as _, Context, NewActivity, NewProduct, SettleBatch, Settlement as _};
use seckill_ledger_sql::{Options, Sqlite};
use seckill_sale::{
    Activity, Challenge, Currency, Delivery, Epoch, EpochMs, Price, Quantity, RequestId, RequestKey, Stock, Ticket,
    UserId, Window,
};

/// Orders of a run that writes batches.
const ORDERS: usize = 100_000;

/// Orders of a run that commits each one.
const ORDERS_ONE_BY_ONE: usize = 400;

/// Interleaved rounds.
const ROUNDS: usize = 5;

/// Tickets of a batch where none is named.
const BATCHES: [usize; 1] = [512];

const NOW: EpochMs = EpochMs(1_800_000_000_000);

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let named: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let batches = if named.is_empty() { BATCHES.to_vec() } else { named };
    for batch in batches {
        let mut ratios: [Vec<f64>; 3] = Default::default();
        println!("{batch} tickets a batch; orders a second:");
        for _ in 0..ROUNDS {
            let one_by_one = measured(ORDERS_ONE_BY_ONE, one_order_a_transaction)?;
            let settled = measured(ORDERS, |file, users| settle(file, users, batch))?;
            let plain = measured(ORDERS, |file, users| insert(file, users, batch, true))?;
            let orders_alone = measured(ORDERS, |file, users| insert(file, users, batch, false))?;
            println!(
                "  settled {settled:>7.0}   one by one {one_by_one:>6.0}   inserted {plain:>7.0}   orders alone {orders_alone:>7.0}"
            );
            for (ratios, other) in ratios.iter_mut().zip([one_by_one, plain, orders_alone]) {
                ratios.push(settled / other);
            }
        }
        let names = [
            "one order a transaction",
            "plain inserts of its rows",
            "plain inserts of orders alone",
        ];
        for (name, mut ratios) in names.into_iter().zip(ratios) {
            ratios.sort_by(f64::total_cmp);
            let [least, median, most] = [ratios[0], ratios[ROUNDS / 2], ratios[ROUNDS - 1]];
            println!("  settled = {median:.2} x {name} ({least:.2} to {most:.2})");
        }
    }
    Ok(())
}

/// Orders a second of one run on an empty file, with scattered users.
fn measured(orders: usize, run: impl FnOnce(&Path, &[UserId]) -> Outcome<f64>) -> Outcome<f64> {
    let folder = tempfile::tempdir()?;
    let mut random = rand::rng();
    let users = (0..orders).map(|_| UserId::new(&format!("{:017}", random.random::<u64>() % 10_u64.pow(17))));
    let users: Vec<UserId> = users.collect::<Result<_, _>>()?;
    let seconds = run(&folder.path().join("ledger.db"), &users)?;
    Ok(orders as f64 / seconds)
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime without drivers").block_on(work)
}

fn open(file: &Path) -> Outcome<(Sqlite, Activity)> {
    let ledger = Sqlite::open(file, &Options::default())?;
    let context = Context {
        actor: "bench".to_owned(),
        now: NOW,
        idempotency: None,
    };
    let product = NewProduct {
        name: "unit".to_owned(),
        price: Price::new(2_000)?,
        currency: Currency::new("CNY")?,
        stock: Stock::new(ORDERS as u64)?,
    };
    let product = block_on(ledger.create_product(product, context.clone()))?;
    let activity = NewActivity {
        product_id: product.id,
        title: "sale".to_owned(),
        seckill_price: Price::new(1_000)?,
        stock: Stock::new(ORDERS as u64)?,
        window: Window {
            starts_at: EpochMs(0),
            ends_at: NOW.plus(1_000_000),
        },
        per_user_limit: Quantity::ONE,
        shards: 1,
        challenge: Challenge::None,
        draft: false,
        notice: None,
    };
    let activity = block_on(ledger.create_activity(activity, context))?;
    Ok((ledger, activity))
}

fn deliveries(activity: &Activity, users: &[UserId]) -> Vec<Delivery> {
    let one = |(sequence, user): (u64, &UserId)| Delivery {
        ticket: Ticket {
            activity: activity.id,
            epoch: Epoch::FIRST,
            sequence,
        },
        user: user.clone(),
        quantity: Quantity::ONE,
        key: RequestKey([7; 16]),
        accepted_at: NOW,
        request_id: RequestId::from_bits(sequence),
        attempts: 0,
        deliveries: 1,
    };
    (1..).zip(users).map(one).collect()
}

fn settle(file: &Path, users: &[UserId], batch: usize) -> Outcome<f64> {
    let (ledger, activity) = open(file)?;
    let tickets = deliveries(&activity, users);
    let batches: Vec<SettleBatch> = tickets
        .chunks(batch)
        .map(|tickets| SettleBatch {
            activity: activity.id,
            tickets: tickets.to_vec(),
            now: NOW,
            pay_within_ms: 900_000,
        })
        .collect();
    let begun = Instant::now();
    for batch in batches {
        block_on(ledger.settle(batch))?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let tally = block_on(ledger.tally(activity.id))?;
    assert_eq!((tally.available, tally.orders_live), (0, users.len() as u64));
    Ok(seconds)
}

/// The same rows into the same tables, with nothing read and nothing guarded.
fn insert(file: &Path, users: &[UserId], batch: usize, with_records: bool) -> Outcome<f64> {
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
fn one_order_a_transaction(file: &Path, users: &[UserId]) -> Outcome<f64> {
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
