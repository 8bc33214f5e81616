//! What a buyer is shown of his order.

use seckill_ledger::Order;
use seckill_sale::{EpochMs, OrderState, Refund};
use serde::Serialize;

use crate::timestamp::rfc3339;

/// An order. Amounts are minor units of `currency`; each moment stands there for people and in epoch milliseconds.
#[derive(Debug, Serialize)]
pub(crate) struct OrderView {
    order_no: String,
    activity_id: u64,
    product_id: u64,
    quantity: u64,
    price_cents: u64,
    amount_cents: u64,
    currency: String,
    state: OrderState,
    created_at: String,
    created_at_ms: i64,
    pay_deadline: String,
    pay_deadline_ms: i64,
    paid_at: Option<String>,
    paid_at_ms: Option<i64>,
    /// When it was cancelled or expired.
    ended_at: Option<String>,
    ended_at_ms: Option<i64>,
    /// What has to go back, because money came after the end.
    refund: Option<Refund>,
}

impl OrderView {
    pub(crate) fn new(order: &Order) -> Self {
        let ms = |at: EpochMs| at.0;
        Self {
            order_no: order.order_no.to_string(),
            activity_id: order.activity.get(),
            product_id: order.product_id.get(),
            quantity: order.quantity.get(),
            price_cents: order.price.cents(),
            amount_cents: order.amount_cents,
            currency: order.currency.as_str().to_owned(),
            state: order.state,
            created_at: rfc3339(order.created_at),
            created_at_ms: order.created_at.0,
            pay_deadline: rfc3339(order.pay_deadline),
            pay_deadline_ms: order.pay_deadline.0,
            paid_at: order.paid_at.map(rfc3339),
            paid_at_ms: order.paid_at.map(ms),
            ended_at: order.ended_at.map(rfc3339),
            ended_at_ms: order.ended_at.map(ms),
            refund: order.refund,
        }
    }
}
