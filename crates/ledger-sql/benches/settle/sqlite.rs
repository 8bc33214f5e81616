//! On SQLite: one writer, in a file of its own for each run.

use std::path::Path;
use std::time::Instant;

use seckill_ledger::{Orders as _, Settlement as _, UnitsOnCancel};
use seckill_ledger_sql::{Options, Sqlite};
use seckill_sale::{Activity, UserId};

use crate::baselines::{insert, one_order_a_transaction};
use crate::{BATCHES, NOW, ORDERS, Outcome, PAY_WITHIN_MS, ROUNDS, Ratios, batches, block_on, sale, scattered};

/// Orders of a run that commits each one.
const ORDERS_ONE_BY_ONE: usize = 400;

/// Orders of one transaction that expires.
const EXPIRED_AT_ONCE: u32 = 1_000;

pub(crate) fn compare(batch: usize) -> Outcome<()> {
    let mut ratios = Ratios::new(&[
        "one order a transaction",
        "plain inserts of its rows",
        "plain inserts of orders alone",
    ]);
    println!("sqlite, {batch} tickets a batch; orders a second:");
    for _ in 0..ROUNDS {
        let one_by_one = measured(ORDERS_ONE_BY_ONE, one_order_a_transaction)?;
        let settled = measured(ORDERS, |file, users| settle(file, users, batch))?;
        let plain = measured(ORDERS, |file, users| insert(file, users, batch, true))?;
        let orders_alone = measured(ORDERS, |file, users| insert(file, users, batch, false))?;
        println!(
            "  settled {settled:>7.0}   one by one {one_by_one:>6.0}   inserted {plain:>7.0}   orders alone {orders_alone:>7.0}"
        );
        ratios.push(&[one_by_one, plain, orders_alone].map(|other| settled / other), &[]);
    }
    ratios.print();
    let expired = measured(ORDERS, |file, users| expire(file, users, BATCHES[0]))?;
    println!("{EXPIRED_AT_ONCE} orders a transaction: {expired:.0} expired a second");
    Ok(())
}

/// Orders a second of one run on an empty file, with scattered users.
fn measured(orders: usize, run: impl FnOnce(&Path, &[UserId]) -> Outcome<f64>) -> Outcome<f64> {
    let folder = tempfile::tempdir()?;
    let users = scattered(orders)?;
    let seconds = run(&folder.path().join("ledger.db"), &users)?;
    Ok(orders as f64 / seconds)
}

pub(crate) fn open(file: &Path) -> Outcome<(Sqlite, Activity)> {
    let ledger = Sqlite::open(file, &Options::default())?;
    let activity = block_on(sale(&ledger))?;
    Ok((ledger, activity))
}

fn settle(file: &Path, users: &[UserId], batch: usize) -> Outcome<f64> {
    let (ledger, activity) = open(file)?;
    let seconds = settle_all(&ledger, &activity, users, batch)?;
    let tally = block_on(ledger.tally(activity.id))?;
    assert_eq!((tally.available, tally.orders_live), (0, users.len() as u64));
    Ok(seconds)
}

fn settle_all(ledger: &Sqlite, activity: &Activity, users: &[UserId], batch: usize) -> Outcome<f64> {
    let batches = batches(activity, users, batch);
    let begun = Instant::now();
    for batch in batches {
        block_on(ledger.settle(batch))?;
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// All orders at once are past their deadline.
fn expire(file: &Path, users: &[UserId], batch: usize) -> Outcome<f64> {
    let (ledger, activity) = open(file)?;
    settle_all(&ledger, &activity, users, batch)?;
    let begun = Instant::now();
    loop {
        let expired = ledger.expire_due(NOW.plus(PAY_WITHIN_MS), EXPIRED_AT_ONCE, UnitsOnCancel::Product);
        if block_on(expired)?.orders == 0 {
            break;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let tally = block_on(ledger.tally(activity.id))?;
    assert_eq!((tally.orders_live, tally.returned), (0, users.len() as u64));
    Ok(seconds)
}
