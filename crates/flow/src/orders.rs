//! Payment and cancellation of orders, with the units that move by them.
//!
//! Whether a request for it was genuine is decided before: by the buyer's token, or by the provider's signature.

use seckill_ledger::{Cancelled, PaidOutcome, Payment};
use seckill_sale::{EpochMs, OrderNo, UserId};

use crate::{Error, Operator};

impl Operator {
    /// Records money that a provider reports. Late money never reopens an order: it must go back.
    ///
    /// # Errors
    /// What the ledger says: [`seckill_ledger::Conflict::Payment`], [`seckill_ledger::Error::NotFound`].
    pub async fn pay(&self, payment: Payment) -> Result<PaidOutcome, Error> {
        let on_cancel = self.settings.units_on_cancel;
        let outcome = self.layers.ledger.pay(payment, on_cancel).await?;
        if let PaidOutcome::RefundRequired(order) = &outcome {
            tracing::warn!(order = %order.order_no, state = ?order.state, "money came for an ended order; it must go back");
            // The order may have expired by this very payment.
            self.apply_movements_or_later(order.activity).await;
        }
        Ok(outcome)
    }

    /// Pays a buyer's own order without any provider: exactly what it costs, once.
    ///
    /// # Errors
    /// As [`Operator::pay`]; an order of somebody else is not found.
    pub async fn pay_in_sandbox(&self, order_no: OrderNo, user: UserId, now: EpochMs) -> Result<PaidOutcome, Error> {
        let order = self.layers.ledger.order(order_no, Some(user.clone())).await?;
        self.pay(Payment {
            id: format!("sandbox-{order_no}"),
            order_no,
            user: Some(user),
            amount_cents: order.amount_cents,
            currency: order.currency,
            received_at: now,
        })
        .await
    }

    /// Gives a pending order up; its units go where the settings say, once.
    ///
    /// # Errors
    /// [`seckill_ledger::Conflict::OrderState`], [`seckill_ledger::Error::NotFound`].
    pub async fn cancel(&self, order_no: OrderNo, user: &UserId, now: EpochMs) -> Result<Cancelled, Error> {
        let on_cancel = self.settings.units_on_cancel;
        let cancelled = self.layers.ledger.cancel(order_no, user, now, on_cancel).await?;
        // Also where it was cancelled before: perhaps nobody applied its movement then.
        self.apply_movements_or_later(cancelled.order.activity).await;
        Ok(cancelled)
    }
}
