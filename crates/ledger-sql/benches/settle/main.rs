//! How fast tickets become orders on SQLite, beside two others in the same run: one order a transaction, and plain inserts of the rows.
//!
//! `cargo bench -p seckill-ledger-sql --bench settle -- [tickets of a batch]…`, in the folder that `TMPDIR` names, since the disk's
//! fdatasync decides much of it. Every run starts with an empty file and ends with a count of its orders.
#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

mod baselines;

use std::path::Path;
use std::time::Instant;

use baselines::{insert, one_order_a_transaction};
use rand::RngExt as _;
use seckill_ledger::{
    Catalog as _, Context, NewActivity, NewProduct, Orders as _, SettleBatch, Settlement as _, UnitsOnCancel,
};
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

/// Orders of one transaction that expires.
const EXPIRED_AT_ONCE: u32 = 1_000;

const PAY_WITHIN_MS: i64 = 900_000;

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
    let expired = measured(ORDERS, |file, users| expire(file, users, BATCHES[0]))?;
    println!("{EXPIRED_AT_ONCE} orders a transaction: {expired:.0} expired a second");
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
    let seconds = settle_all(&ledger, &activity, users, batch)?;
    let tally = block_on(ledger.tally(activity.id))?;
    assert_eq!((tally.available, tally.orders_live), (0, users.len() as u64));
    Ok(seconds)
}

fn settle_all(ledger: &Sqlite, activity: &Activity, users: &[UserId], batch: usize) -> Outcome<f64> {
    let tickets = deliveries(activity, users);
    let batches = tickets.chunks(batch).map(|tickets| SettleBatch {
        activity: activity.id,
        tickets: tickets.to_vec(),
        now: NOW,
        pay_within_ms: PAY_WITHIN_MS,
    });
    let batches: Vec<SettleBatch> = batches.collect();
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
