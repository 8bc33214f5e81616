//! What the facts are played with: a product, a sale, tickets, batches.

use seckill_sale::{
    Activity, ActivityId, Challenge, Currency, Delivery, Epoch, EpochMs, Price, ProductId, Quantity, RequestId,
    RequestKey, Status, Stock, Ticket, UserId, Window,
};

use crate::{
    Context, Idempotency, Ledger, NewActivity, NewProduct, OrderFilter, PageRequest, Payment, Replayed, SettleBatch,
    Settled,
};

/// The present moment of every fact, in the middle of each sale's window.
pub const NOW: EpochMs = EpochMs(1_000_000);

/// First moment at which the sales are over.
pub const END: EpochMs = EpochMs(2_000_000);

/// How long orders wait for payment.
pub const PAY_WITHIN_MS: i64 = 60_000;

/// When orders that were settled at [`NOW`] have to be paid.
pub const DEADLINE: EpochMs = EpochMs(NOW.0 + PAY_WITHIN_MS);

/// Price of one unit in each sale.
pub const PRICE_CENTS: u64 = 1_990;

/// Units of a product before a sale took some.
pub const PRODUCT_UNITS: u64 = 1_000;

/// A page that holds all rows of a fact.
pub fn whole() -> PageRequest {
    page(None, PageRequest::LIMIT_MAX)
}

/// A page of a list.
pub fn page(cursor: Option<String>, limit: u32) -> PageRequest {
    PageRequest { cursor, limit }
}

/// An operator at a moment, without a key.
pub fn at(now: EpochMs) -> Context {
    Context {
        actor: "admin".to_owned(),
        now,
        idempotency: None,
    }
}

/// An operator with a key; `request` stands for what he asks.
pub fn keyed(key: &str, request: u8) -> Context {
    Context {
        idempotency: Some(Idempotency {
            key: key.to_owned(),
            digest: [request; 16],
            replayed: Replayed::default(),
        }),
        ..at(NOW)
    }
}

/// A product to be made.
pub fn new_product() -> NewProduct {
    NewProduct {
        name: "机械键盘".to_owned(),
        price: Price::new(29_900).expect("in range"),
        currency: currency("CNY"),
        stock: stock(PRODUCT_UNITS),
    }
}

/// A sale to be made.
pub fn new_activity(product: ProductId, units: u64) -> NewActivity {
    NewActivity {
        product_id: product,
        title: "Night of the keyboards".to_owned(),
        seckill_price: Price::new(PRICE_CENTS).expect("in range"),
        stock: stock(units),
        window: Window::new(EpochMs(500_000), END).expect("not empty"),
        per_user_limit: Quantity::new(5).expect("in range"),
        shards: 1,
        challenge: Challenge::None,
        min_level: None,
        draft: false,
        notice: Some("one each, please".to_owned()),
    }
}

/// Makes a product and a sale of it.
pub async fn sale(ledger: &dyn Ledger, units: u64) -> Activity {
    let product = ledger.create_product(new_product(), at(NOW)).await.expect("a product");
    let new = new_activity(product.id, units);
    ledger.create_activity(new, at(NOW)).await.expect("an activity")
}

/// Closes a sale.
pub async fn close(ledger: &dyn Ledger, activity: ActivityId) -> Activity {
    let closed = ledger.set_status(activity, Status::Closed, None, at(NOW));
    closed.await.expect("any activity can be closed")
}

/// Units that the product of a sale has now.
pub async fn product_units(ledger: &dyn Ledger, activity: &Activity) -> u64 {
    ledger.product(activity.product_id).await.expect("its product").stock
}

/// Units of a stock.
pub fn stock(units: u64) -> Stock {
    Stock::new(units).expect("in range")
}

/// A currency.
pub fn currency(code: &str) -> Currency {
    Currency::new(code).expect("three capitals")
}

/// A buyer.
pub fn user(name: &str) -> UserId {
    UserId::new(name).expect("an id")
}

/// The `sequence`-th ticket of a sale.
pub fn ticket(activity: ActivityId, sequence: u64) -> Ticket {
    Ticket {
        activity,
        epoch: Epoch::FIRST,
        sequence,
    }
}

/// A ticket as a worker gets it.
pub fn delivery(activity: ActivityId, sequence: u64, buyer: &str, quantity: u64) -> Delivery {
    Delivery {
        ticket: ticket(activity, sequence),
        user: user(buyer),
        quantity: Quantity::new(quantity).expect("in range"),
        key: RequestKey([7; 16]),
        accepted_at: EpochMs(NOW.0 - 5),
        request_id: RequestId::from_bits(sequence),
        attempts: 0,
        deliveries: 1,
    }
}

/// Tickets 1 to `count` of buyers `u1`, `u2`, …, one unit each.
pub fn deliveries(activity: ActivityId, count: u64) -> Vec<Delivery> {
    let one = |sequence| delivery(activity, sequence, &format!("u{sequence}"), 1);
    (1..=count).map(one).collect()
}

/// A batch at [`NOW`].
pub fn batch(activity: ActivityId, tickets: Vec<Delivery>) -> SettleBatch {
    SettleBatch {
        created_at: None,
        activity,
        tickets,
        now: NOW,
        pay_within_ms: PAY_WITHIN_MS,
    }
}

/// Settles tickets at [`NOW`].
pub async fn settle(ledger: &dyn Ledger, activity: ActivityId, tickets: Vec<Delivery>) -> Settled {
    ledger.settle(batch(activity, tickets)).await.expect("a good batch")
}

/// A sale of `units` of which the first `sold` are ordered by `u1`, `u2`, ….
pub async fn sold(ledger: &dyn Ledger, units: u64, sold: u64) -> Activity {
    let activity = sale(ledger, units).await;
    settle(ledger, activity.id, deliveries(activity.id, sold)).await;
    activity
}

/// Right money for one unit, from the provider.
pub fn payment(id: &str, activity: ActivityId, sequence: u64, received_at: EpochMs) -> Payment {
    Payment {
        id: id.to_owned(),
        order_no: ticket(activity, sequence).order_no(),
        user: None,
        amount_cents: PRICE_CENTS,
        currency: currency("CNY"),
        received_at,
    }
}

/// All orders of a sale.
pub fn of(activity: ActivityId) -> OrderFilter {
    OrderFilter {
        activity: Some(activity),
        user: None,
    }
}
