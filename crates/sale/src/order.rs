//! Orders and what may happen to them.
//!
//! ```text
//! pending_payment ──Paid──▶ paid
//!        │─────────Cancelled──▶ cancelled ──Paid──▶ cancelled, refund required
//!        └─────────Expired────▶ expired   ──Paid──▶ expired, refund required
//! ```
//! An order ends once; nothing reopens it.

use serde::{Deserialize, Serialize};

/// State of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderState {
    /// Holds its units until the payment deadline.
    PendingPayment,
    /// Paid in time.
    Paid,
    /// Given up by the buyer.
    Cancelled,
    /// Not paid in time.
    Expired,
}

/// What comes upon an order from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderEvent {
    /// The buyer's money arrived.
    Paid,
    /// The buyer gave the order up.
    Cancelled,
    /// The payment deadline passed.
    Expired,
}

/// A repayment that an order owes because money came after its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refund {
    /// How far the repayment is.
    pub state: RefundState,
    /// Minor units to repay.
    pub amount_cents: u64,
}

/// How far a repayment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefundState {
    /// Money came after the order's end and must go back.
    Required,
    /// The shop has paid it back.
    Done,
}

/// What an event does to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// The order changes its state.
    To(OrderState),
    /// Already so: the event was here before.
    Unchanged,
    /// State stays, the money must go back.
    RefundRequired,
    /// Not possible in this state; nothing changes.
    Conflict,
}

impl OrderState {
    /// Whether the order holds its units: they count as sold.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::PendingPayment | Self::Paid)
    }

    /// What `event` does in this state.
    #[must_use]
    pub const fn on(self, event: OrderEvent) -> Transition {
        match (self, event) {
            (Self::PendingPayment, OrderEvent::Paid) => Transition::To(Self::Paid),
            (Self::PendingPayment, OrderEvent::Cancelled) => Transition::To(Self::Cancelled),
            (Self::PendingPayment, OrderEvent::Expired) => Transition::To(Self::Expired),
            (Self::Paid, OrderEvent::Paid)
            | (Self::Cancelled, OrderEvent::Cancelled)
            | (Self::Expired, OrderEvent::Expired) => Transition::Unchanged,
            (Self::Cancelled | Self::Expired, OrderEvent::Paid) => Transition::RefundRequired,
            (Self::Paid | Self::Cancelled | Self::Expired, _) => Transition::Conflict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_order_never_reopens_and_late_money_goes_back() {
        use OrderEvent as Event;
        use OrderState as State;
        for ended in [State::Cancelled, State::Expired] {
            assert_eq!(ended.on(Event::Paid), Transition::RefundRequired);
        }
        assert_eq!(State::Paid.on(Event::Cancelled), Transition::Conflict);
        assert_eq!(State::Paid.on(Event::Expired), Transition::Conflict);
        assert_eq!(State::Paid.on(Event::Paid), Transition::Unchanged);
        assert_eq!(State::Cancelled.on(Event::Cancelled), Transition::Unchanged);
        assert_eq!(State::Cancelled.on(Event::Expired), Transition::Conflict);
    }

    #[test]
    fn only_pending_and_paid_orders_hold_their_units() {
        use OrderState as State;
        let live = [State::PendingPayment, State::Paid, State::Cancelled, State::Expired].map(State::is_live);
        assert_eq!(live, [true, true, false, false]);
    }
}
