//! Settlement: tickets are taken from the queue, become orders in SQLite, and are recorded as settled.

use seckill_ledger::{Catalog as _, Context, NewActivity, NewProduct, SettleBatch, Settlement as _};
use seckill_ledger_sql::{Options, Sqlite, Threads};
use seckill_sale::{
    Activity, Challenge, Currency, Delivery, Epoch, Price, Quantity, RequestId, Stock, Ticket, TicketState,
};

use crate::people::{NOW, WINDOW, key, scattered, user};
use crate::polling::at_once;
use crate::scenarios::Prepared;
use crate::store::{Sales, Store};

/// Batches that go before those that are counted.
const WARM_UP_BATCHES: usize = 2;

/// Tickets of a batch, as the worker takes them.
const BATCH: usize = 512;

/// Orders that are in the table before.
const ORDERS_BEFORE: usize = 2_048;

const PAY_WITHIN_MS: i64 = 900_000;

/// Tickets become orders, in batches of `batch`, one transaction each, in a file as `serve` opens it.
pub(crate) fn orders(batch: usize, operations: usize) -> anyhow::Result<Prepared> {
    let folder = tempfile::tempdir()?;
    let options = Options {
        threads: Threads::Inline,
        ..Options::default()
    };
    let ledger = Sqlite::open(&folder.path().join("ledger.db"), &options)?;
    let warm_up = WARM_UP_BATCHES * batch;
    let all = ORDERS_BEFORE + warm_up + operations;
    let activity = sale(&ledger, all)?;
    let tickets = deliveries(&activity, all);
    let (before, rest) = tickets.split_at(ORDERS_BEFORE);
    let (warm_up, measured) = rest.split_at(warm_up);
    let batches = |tickets: &[Delivery], size| {
        let batches = tickets.chunks(size).map(|tickets| SettleBatch {
            created_at: None,
            activity: activity.id,
            tickets: tickets.to_vec(),
            now: NOW,
            pay_within_ms: PAY_WITHIN_MS,
        });
        batches.collect::<Vec<_>>()
    };
    for batch in batches(before, BATCH).into_iter().chain(batches(warm_up, batch)) {
        at_once(ledger.settle(batch))??;
    }
    let mut measured = batches(measured, batch).into_iter();
    Ok(Box::new(move || {
        // Moved in here, so that it lives as long as the ledger.
        let _folder = &folder;
        let mut written = 0;
        for batch in measured.by_ref() {
            let settled = at_once(ledger.settle(batch))??;
            written += usize::try_from(settled.orders_written)?;
        }
        Ok(written)
    }))
}

/// Tickets leave the queue for a worker.
pub(crate) fn taken(operations: usize) -> anyhow::Result<Prepared> {
    let mut store = waiting(operations)?;
    Ok(Box::new(move || {
        let mut taken = 0;
        while taken < operations {
            taken += store.take(BATCH.min(operations - taken))?.len();
        }
        Ok(taken)
    }))
}

/// What became of taken tickets is recorded.
pub(crate) fn recorded(operations: usize) -> anyhow::Result<Prepared> {
    let mut store = waiting(operations)?;
    let mut batches = Vec::new();
    let mut left = operations;
    while 0 < left {
        let batch = store.take(BATCH.min(left))?;
        left -= batch.len();
        batches.push(batch);
    }
    Ok(Box::new(move || {
        let mut recorded = 0;
        for (settled, batch) in (WARM_UP_BATCHES as u64 + 1..).zip(&batches) {
            store.succeed(settled, batch)?;
            recorded += batch.len();
        }
        Ok(recorded)
    }))
}

/// A sale with this many tickets for the measurement, behind some that were taken before.
fn waiting(operations: usize) -> anyhow::Result<Store> {
    let mut store = Store::open(Sales {
        buyers: WARM_UP_BATCHES * BATCH + operations,
        state: TicketState::Queued,
        ..Sales::ONE
    })?;
    for batch in 0..WARM_UP_BATCHES {
        let deliveries = store.take(BATCH)?;
        store.succeed(batch as u64 + 1, &deliveries)?;
    }
    Ok(store)
}

/// A product and its sale, both of this many units.
fn sale(ledger: &Sqlite, units: usize) -> anyhow::Result<Activity> {
    let context = Context {
        actor: "instructions".to_owned(),
        now: NOW,
        idempotency: None,
    };
    let stock = Stock::new(units as u64)?;
    let product = NewProduct {
        name: "unit".to_owned(),
        price: Price::new(2_000)?,
        currency: Currency::new("CNY")?,
        stock,
    };
    let product = at_once(ledger.create_product(product, context.clone()))??;
    let activity = NewActivity {
        product_id: product.id,
        title: "sale".to_owned(),
        seckill_price: Price::new(1_000)?,
        stock,
        window: WINDOW,
        per_user_limit: Quantity::ONE,
        shards: 1,
        challenge: Challenge::None,
        min_level: None,
        draft: false,
        notice: None,
    };
    Ok(at_once(ledger.create_activity(activity, context))??)
}

fn deliveries(activity: &Activity, count: usize) -> Vec<Delivery> {
    let delivery = |n: u64| Delivery {
        ticket: Ticket {
            activity: activity.id,
            epoch: Epoch::FIRST,
            sequence: n + 1,
        },
        user: user(n),
        quantity: Quantity::ONE,
        key: key(n),
        accepted_at: NOW,
        request_id: RequestId::from_bits(scattered(n)),
        attempts: 0,
        deliveries: 1,
    };
    (0..count as u64).map(delivery).collect()
}
