//! What the operator is shown of products, activities and what became of their units. Moments are RFC 3339 in UTC with milliseconds,
//! money is whole minor units. What he set himself is in `house_views.rs`.

use seckill_api::rfc3339;
use seckill_ledger::{DeadLetter, DeadLetterState, Movement, Order, Product};
use seckill_sale::{Activity, Challenge, Eligibility, EpochMs, OrderState, Phase, Refund, Status, UnitTo};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct ProductView {
    id: u64,
    name: String,
    price_cents: u64,
    currency: String,
    /// Units that no activity holds.
    stock: u64,
    version: u64,
    created_at: String,
}

impl From<&Product> for ProductView {
    fn from(product: &Product) -> Self {
        Self {
            id: product.id.get(),
            name: product.name.clone(),
            price_cents: product.price.cents(),
            currency: product.currency.as_str().to_owned(),
            stock: product.stock,
            version: product.version,
            created_at: rfc3339(product.created_at),
        }
    }
}

/// An activity.
#[derive(Debug, Serialize)]
pub(crate) struct ActivityView {
    id: u64,
    product_id: u64,
    product_name: String,
    title: String,
    price_cents: u64,
    seckill_price_cents: u64,
    currency: String,
    stock_total: u64,
    /// Null where the store lost its state, or has forgotten a closed sale.
    stock_left: Option<u64>,
    starts_at: String,
    ends_at: String,
    phase: Phase,
    status: Status,
    per_user_limit: u64,
    challenge: Challenge,
    /// Who may buy; null: everybody.
    eligibility: Option<Eligibility>,
    shards: u16,
    version: u64,
    /// Whether the store has a state of it.
    preheated: bool,
    /// Generation of that state; null until the first one.
    epoch: Option<u64>,
    notice: Option<String>,
    resumes_at: Option<String>,
    /// Whether it is paused, and the ledger does not know yet.
    pub(crate) ledger_pending: bool,
    created_at: String,
}

impl ActivityView {
    /// `store_left` is what the store says at `now`; none where it has no state.
    pub(crate) fn new(activity: &Activity, store_left: Option<u64>, now: EpochMs) -> Self {
        let untouched = activity.epoch.is_none() && activity.status != Status::Closed;
        Self {
            id: activity.id.get(),
            product_id: activity.product_id.get(),
            product_name: activity.product_name.clone(),
            title: activity.title.clone(),
            price_cents: activity.price.cents(),
            seckill_price_cents: activity.seckill_price.cents(),
            currency: activity.currency.as_str().to_owned(),
            stock_total: activity.stock_total,
            stock_left: store_left.or(untouched.then_some(activity.stock_total)),
            starts_at: rfc3339(activity.window.starts_at),
            ends_at: rfc3339(activity.window.ends_at),
            phase: activity.phase(now, store_left),
            status: activity.status,
            per_user_limit: activity.per_user_limit.get(),
            challenge: activity.challenge,
            eligibility: Some(activity.eligibility).filter(|asked| asked.kind().is_some()),
            shards: activity.shards,
            version: activity.version,
            preheated: store_left.is_some(),
            epoch: activity.epoch.map(seckill_sale::Epoch::get),
            notice: activity.notice.clone(),
            resumes_at: activity.resumes_at.map(rfc3339),
            ledger_pending: false,
            created_at: rfc3339(activity.created_at),
        }
    }
}

/// A movement of units.
#[derive(Debug, Serialize)]
pub(crate) struct MovementView {
    id: u64,
    activity_id: u64,
    kind: &'static str,
    units: u64,
    moved_at: String,
}

impl From<&Movement> for MovementView {
    fn from(movement: &Movement) -> Self {
        Self {
            id: movement.id,
            activity_id: movement.activity.get(),
            kind: movement.kind.as_str(),
            units: movement.units,
            moved_at: rfc3339(movement.moved_at),
        }
    }
}

/// An order.
#[derive(Debug, Serialize)]
pub(crate) struct OrderView {
    order_no: String,
    activity_id: u64,
    product_id: u64,
    user_id: String,
    quantity: u64,
    price_cents: u64,
    amount_cents: u64,
    currency: String,
    state: OrderState,
    created_at: String,
    pay_deadline: String,
    paid_at: Option<String>,
    /// When it was cancelled or expired.
    ended_at: Option<String>,
    refund: Option<Refund>,
}

impl From<&Order> for OrderView {
    fn from(order: &Order) -> Self {
        Self {
            order_no: order.order_no.to_string(),
            activity_id: order.activity.get(),
            product_id: order.product_id.get(),
            user_id: order.user.as_str().to_owned(),
            quantity: order.quantity.get(),
            price_cents: order.price.cents(),
            amount_cents: order.amount_cents,
            currency: order.currency.as_str().to_owned(),
            state: order.state,
            created_at: rfc3339(order.created_at),
            pay_deadline: rfc3339(order.pay_deadline),
            paid_at: order.paid_at.map(rfc3339),
            ended_at: order.ended_at.map(rfc3339),
            refund: order.refund,
        }
    }
}

/// A dead letter.
#[derive(Debug, Serialize)]
pub(crate) struct DeadLetterView {
    id: u64,
    activity_id: u64,
    ticket: String,
    user_id: String,
    quantity: u64,
    request_id: String,
    attempts: u32,
    reason: String,
    state: DeadLetterState,
    parked_at: String,
    discard_reason: Option<String>,
    /// Where its units went when it was discarded.
    unit_to: Option<&'static str>,
}

impl From<&DeadLetter> for DeadLetterView {
    fn from(letter: &DeadLetter) -> Self {
        Self {
            id: letter.id,
            activity_id: letter.ticket.activity.get(),
            ticket: letter.ticket.to_string(),
            user_id: letter.user.as_str().to_owned(),
            quantity: letter.quantity.get(),
            request_id: letter.request_id.as_str().to_owned(),
            attempts: letter.attempts,
            reason: letter.reason.clone(),
            state: letter.state,
            parked_at: rfc3339(letter.parked_at),
            discard_reason: letter.discard_reason.clone(),
            unit_to: letter.unit_to.map(|unit_to| match unit_to {
                UnitTo::Sale => "sale",
                UnitTo::Product => "product",
            }),
        }
    }
}
