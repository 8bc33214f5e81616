//! The same on a database server, with several consumers, and what a flooded sale does to another.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use seckill_ledger::{SettleBatch, Settlement as _};
use seckill_ledger_sql::{Server, ServerOptions};
use seckill_sale::{Activity, UserId};
use seckill_testkit::{Database, Kind};

use crate::{Outcome, ROUNDS, Ratios, batches, block_on, sale, scattered};

/// Orders of a run that writes batches, where no number is named.
pub(crate) const ORDERS: usize = 40_000;

/// Of so many orders a run that commits each one writes one.
const ONE_BY_ONE_PART: usize = 20;

/// Connections that write one order a transaction.
pub(crate) const CONNECTIONS: usize = 4;

/// Consumers of one sale that are compared.
const CONSUMERS: [usize; 3] = [1, 4, 8];

/// What settling is measured against, on a fresh database; each gives orders a second.
pub(crate) struct Baselines {
    pub(crate) one_by_one: fn(&str, &[UserId]) -> Outcome<f64>,
    /// With this many rows a transaction.
    pub(crate) plain: fn(&str, &[UserId], usize) -> Outcome<f64>,
}

pub(crate) fn compare<K: Kind>(batch: usize, orders: usize, baselines: &Baselines) -> Outcome<()> {
    println!("{}, {batch} tickets a batch; orders a second:", K::NAME);
    let mut ratios = Ratios::new(&[
        "one order a transaction, 1 consumer",
        "one order a transaction, 4 consumers",
        "one order a transaction, 8 consumers",
        "plain inserts of its rows, 1 consumer",
        "plain inserts of its rows, 4 consumers",
        "plain inserts of its rows, 8 consumers",
        "1 consumer, by 4",
        "1 consumer, by 8",
    ]);
    for _ in 0..ROUNDS {
        let one_by_one = (baselines.one_by_one)(&Database::<K>::fresh().url(), &scattered(orders / ONE_BY_ONE_PART)?)?;
        let plain = (baselines.plain)(&Database::<K>::fresh().url(), &scattered(orders)?, batch)?;
        let [one, four, eight] = CONSUMERS.map(|consumers| settled::<K>(batch, orders, consumers));
        let settled = [one?, four?, eight?];
        println!("  one by one {one_by_one:>6.0}   plain {plain:>7.0}   by 1, 4, 8 consumers {settled:>7.0?}");
        let by = |other: f64| settled.map(|settled| settled / other);
        ratios.push(&[by(one_by_one), by(plain)].concat(), &by(settled[0])[1..]);
    }
    ratios.print();
    flood::<K>(batch, orders)
}

fn open(url: &str, consumers: usize) -> Outcome<Server> {
    let options = ServerOptions {
        // One more than a sale may have.
        writers: u8::try_from(consumers + 1)?,
        lock_wait_s_max: 60,
        ..ServerOptions::default()
    };
    Ok(Server::open(url, options)?)
}

fn settled<K: Kind>(batch: usize, orders: usize, consumers: usize) -> Outcome<f64> {
    let database = Database::<K>::fresh();
    let ledger = open(&database.url(), consumers)?;
    let activity = block_on(sale(&ledger))?;
    // Connections are made and statements prepared before.
    let first = block_on(sale(&ledger))?;
    block_on(consume(
        &ledger,
        batches(&first, &scattered(2 * consumers * batch)?, batch),
        consumers,
    ));
    let batches = batches(&activity, &scattered(orders)?, batch);
    let begun = Instant::now();
    block_on(consume(&ledger, batches, consumers));
    let seconds = begun.elapsed().as_secs_f64();
    let tally = block_on(ledger.tally(activity.id))?;
    assert_eq!(tally.orders_live, orders as u64);
    Ok(orders as f64 / seconds)
}

async fn consume(ledger: &Server, batches: Vec<SettleBatch>, consumers: usize) {
    let next = AtomicUsize::new(0);
    let consumer = || async {
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            ledger.settle(batch.clone()).await.expect("the server works");
        }
    };
    join_all((0..consumers).map(|_| consumer())).await;
}

/// Small batches of one sale, one after the other, alone and while another sale is flooded by eight consumers.
fn flood<K: Kind>(batch: usize, orders: usize) -> Outcome<()> {
    const SMALL: usize = 16;
    let database = Database::<K>::fresh();
    let ledger = open(&database.url(), 8)?;
    let (quiet, flooded) = (block_on(sale(&ledger))?, block_on(sale(&ledger))?);
    let users = scattered(orders / 10)?;
    let (alone, beside) = users.split_at(users.len() / 2);
    let first = block_on(one_after_the_other(&ledger, &quiet, alone, 0, SMALL));
    let others = batches(&flooded, &scattered(2 * orders)?, batch);
    let mut second = Vec::new();
    block_on(async {
        let small = async { second = one_after_the_other(&ledger, &quiet, beside, alone.len(), SMALL).await };
        tokio::join!(consume(&ledger, others, 8), small);
    });
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    let (first, second) = (median(first), median(second));
    println!(
        "  a batch of {SMALL} takes {first:.2} ms, and {second:.2} ms while another sale is flooded by 8 consumers"
    );
    Ok(())
}

async fn one_after_the_other(
    ledger: &Server,
    activity: &Activity,
    users: &[UserId],
    before: usize,
    size: usize,
) -> Vec<Duration> {
    let mut times = Vec::new();
    for mut batch in batches(activity, users, size) {
        for delivery in &mut batch.tickets {
            delivery.ticket.sequence += before as u64;
        }
        let begun = Instant::now();
        ledger.settle(batch).await.expect("the server works");
        times.push(begun.elapsed());
    }
    times
}
