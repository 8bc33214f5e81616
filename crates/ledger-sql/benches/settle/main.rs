//! How fast tickets become orders, beside two others in the same run: one order a transaction, and plain inserts of the rows.
//!
//! `cargo bench -p seckill-ledger-sql --bench settle -- [sqlite] [mariadb] [postgres] [orders=N] [tickets of a batch]…`; SQLite where none is
//! named; `orders` is for servers on a busy machine.
//! A server is the one that tests share: nothing else should run them meanwhile. It is durable: every commit waits for the disk.
//! In the folder that `TMPDIR` names, since the disk's fdatasync decides much of it; servers are started there too. Every run starts with
//! an empty database and ends with a count of its orders.
#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

mod baselines;
mod server_baselines;
mod servers;
mod sqlite;

use rand::RngExt as _;
use seckill_ledger::{Catalog, Context, NewActivity, NewProduct, SettleBatch};
use seckill_sale::{
    Activity, Challenge, Currency, Delivery, Epoch, EpochMs, Price, Quantity, RequestId, RequestKey, Stock, Ticket,
    UserId, Window,
};
use seckill_testkit::{MariaDbServer, PostgresServer};

/// Orders of a run that writes batches.
const ORDERS: usize = 100_000;

/// Interleaved rounds.
const ROUNDS: usize = 5;

/// Tickets of a batch where none is named.
const BATCHES: [usize; 1] = [512];

const PAY_WITHIN_MS: i64 = 900_000;

const NOW: EpochMs = EpochMs(1_800_000_000_000);

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let named: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let batches = if named.is_empty() { BATCHES.to_vec() } else { named };
    let asked = |database: &str| words.iter().any(|word| word == database);
    let orders = words.iter().find_map(|word| word.strip_prefix("orders=")?.parse().ok());
    let orders = orders.unwrap_or(servers::ORDERS);
    let none_is_named = words.iter().all(|word| word.parse::<usize>().is_ok());
    for &batch in &batches {
        if asked("mariadb") {
            servers::compare::<MariaDbServer>(batch, orders, &server_baselines::MARIADB)?;
        }
        if asked("postgres") {
            servers::compare::<PostgresServer>(batch, orders, &server_baselines::POSTGRES)?;
        }
        if asked("sqlite") || none_is_named {
            sqlite::compare(batch)?;
        }
    }
    Ok(())
}

/// Ratios of settling to others, one of each a round.
struct Ratios(Vec<(&'static str, Vec<f64>)>);

impl Ratios {
    fn new(others: &[&'static str]) -> Self {
        Self(others.iter().map(|&other| (other, Vec::new())).collect())
    }

    fn push(&mut self, first: &[f64], rest: &[f64]) {
        for ((_, ratios), &ratio) in self.0.iter_mut().zip(first.iter().chain(rest)) {
            ratios.push(ratio);
        }
    }

    fn print(self) {
        for (other, mut ratios) in self.0 {
            ratios.sort_by(f64::total_cmp);
            let [least, median, most] = [ratios[0], ratios[ROUNDS / 2], ratios[ROUNDS - 1]];
            println!("  settled = {median:.2} x {other} ({least:.2} to {most:.2})");
        }
    }
}

fn scattered(count: usize) -> Outcome<Vec<UserId>> {
    let mut random = rand::rng();
    let users = (0..count).map(|_| UserId::new(&format!("{:017}", random.random::<u64>() % 10_u64.pow(17))));
    Ok(users.collect::<Result<_, _>>()?)
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime without drivers").block_on(work)
}

async fn sale(ledger: &impl Catalog) -> Outcome<Activity> {
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
    let product = ledger.create_product(product, context.clone()).await?;
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
        min_level: None,
        draft: false,
        notice: None,
    };
    Ok(ledger.create_activity(activity, context).await?)
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

fn batches(activity: &Activity, users: &[UserId], batch: usize) -> Vec<SettleBatch> {
    let tickets = deliveries(activity, users);
    let batches = tickets.chunks(batch).map(|tickets| SettleBatch {
        created_at: None,
        activity: activity.id,
        tickets: tickets.to_vec(),
        now: NOW,
        pay_within_ms: PAY_WITHIN_MS,
    });
    batches.collect()
}
