//! Claims through the embedded engine: batch in, one step of its owner, one journal frame, answers out.

use seckill_sale::{Claim, Refusal};
use seckill_stock::Answer;

use crate::people::{activity, claim, key, scattered};
use crate::scenarios::Prepared;
use crate::store::{Sales, Store};

/// Claims of one batch, where nothing else is said.
pub(crate) const BATCH: usize = 64;

/// Batches that go before those that are counted.
const WARM_UP_BATCHES: usize = 4;

/// Where the claims of a scenario go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum To {
    /// Over all sales, at random.
    All,
    /// To one of the sales; the others are open and idle.
    First,
}

/// New buyers, each admitted.
pub(crate) fn admitted(sales: Sales, to: To, batch: usize, operations: usize) -> anyhow::Result<Prepared> {
    let new_buyer = |n: usize| {
        let sale = match to {
            To::All => usize::try_from(scattered(n as u64) >> 32).unwrap_or(0) % sales.count,
            To::First => 0,
        };
        claim(activity(sale), (sales.buyers + n) as u64)
    };
    prepare(
        sales,
        batch,
        operations,
        new_buyer,
        |answer| matches!(answer, Ok(reserved) if !reserved.replayed),
    )
}

/// New buyers of a sale that has nothing left.
pub(crate) fn sold_out(operations: usize) -> anyhow::Result<Prepared> {
    let sales = Sales {
        buyers: 10_000,
        left: 0,
        ..Sales::ONE
    };
    let new_buyer = |n: usize| claim(activity(0), (sales.buyers + n) as u64);
    prepare(sales, BATCH, operations, new_buyer, |answer| {
        *answer == Err(Refusal::SoldOut)
    })
}

/// Buyers who have a ticket already and ask for another.
pub(crate) fn another(operations: usize) -> anyhow::Result<Prepared> {
    let again = |n: usize| Claim {
        key: key((BUYERS + n) as u64),
        ..claim(activity(0), (n % BUYERS) as u64)
    };
    prepare(SOLD, BATCH, operations, again, |answer| {
        matches!(answer, Err(Refusal::AlreadyTook(_)))
    })
}

/// The requests of buyers who have a ticket already, sent again as they were.
pub(crate) fn replayed(operations: usize) -> anyhow::Result<Prepared> {
    let same = |n: usize| claim(activity(0), (n % BUYERS) as u64);
    prepare(
        SOLD,
        BATCH,
        operations,
        same,
        |answer| matches!(answer, Ok(reserved) if reserved.replayed),
    )
}

/// Buyers of [`SOLD`].
const BUYERS: usize = 10_000;

/// A sale with buyers who come again.
const SOLD: Sales = Sales {
    buyers: BUYERS,
    ..Sales::ONE
};

fn prepare(
    sales: Sales,
    batch: usize,
    operations: usize,
    nth: impl Fn(usize) -> Claim,
    expected: fn(&Answer) -> bool,
) -> anyhow::Result<Prepared> {
    let mut store = Store::open(sales)?;
    let warm_up = WARM_UP_BATCHES * batch;
    let claims: Vec<Claim> = (0..warm_up + operations).map(nth).collect();
    let mut batches = claims
        .chunks(batch)
        .map(<[Claim]>::to_vec)
        .collect::<Vec<_>>()
        .into_iter();
    for batch in batches.by_ref().take(WARM_UP_BATCHES) {
        store.claim(batch)?;
    }
    Ok(Box::new(move || {
        let mut as_expected = 0;
        for batch in batches.by_ref() {
            as_expected += store.claim(batch)?.iter().filter(|answer| expected(answer)).count();
        }
        Ok(as_expected)
    }))
}
