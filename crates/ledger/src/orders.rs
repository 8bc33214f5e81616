//! Orders after they were written: reading, paying, cancelling, expiring.

use async_trait::async_trait;
use seckill_sale::{ActivityId, Currency, EpochMs, OrderNo, OrderState, Price, ProductId, Quantity, Refund, UserId};

use crate::{Error, Movement, Page, PageRequest};

/// An order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its number.
    pub order_no: OrderNo,
    /// The activity.
    pub activity: ActivityId,
    /// The product.
    pub product_id: ProductId,
    /// The buyer.
    pub user: UserId,
    /// His units.
    pub quantity: Quantity,
    /// Price of one unit.
    pub price: Price,
    /// Minor units to pay.
    pub amount_cents: u64,
    /// Currency.
    pub currency: Currency,
    /// State.
    pub state: OrderState,
    /// When it was written.
    pub created_at: EpochMs,
    /// Until when it waits for payment.
    pub pay_deadline: EpochMs,
    /// When it was paid.
    pub paid_at: Option<EpochMs>,
    /// When it was cancelled or expired.
    pub ended_at: Option<EpochMs>,
    /// A repayment that it owes.
    pub refund: Option<Refund>,
}

/// Which orders to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderFilter {
    /// Only of this activity.
    pub activity: Option<ActivityId>,
    /// Only of this user.
    pub user: Option<UserId>,
}

/// Money that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The provider's id of this payment, 1 to 64 characters; the same id again is the same payment.
    pub id: String,
    /// The order.
    pub order_no: OrderNo,
    /// Only where the order is this user's; none where the provider speaks.
    pub user: Option<UserId>,
    /// Minor units.
    pub amount_cents: u64,
    /// Currency.
    pub currency: Currency,
    /// When it arrived here.
    pub received_at: EpochMs,
}

/// What a payment did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaidOutcome {
    /// The order is paid, since now or (this same payment) since before.
    Paid(Order),
    /// The order had ended, or another payment had paid it: the money must go back. The order's state did not change.
    RefundRequired(Order),
}

/// Where units of a cancelled or expired order go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnitsOnCancel {
    /// To the product, so that the sale does not start over.
    Product,
    /// To the sale while it is open.
    Sale,
}

/// A cancelled order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancelled {
    /// The order.
    pub order: Order,
    /// The movement of its units; none where it was cancelled before.
    pub movement: Option<Movement>,
}

/// Orders that expired in one transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expired {
    /// How many.
    pub orders: u64,
    /// One movement an activity.
    pub movements: Vec<Movement>,
}

/// Orders after they were written. An order ends once: each change is guarded by the state it starts from.
#[async_trait]
pub trait Orders: Send + Sync + 'static {
    /// An order, only where it is this user's; none of another's is told from none at all.
    async fn order(&self, order_no: OrderNo, user: Option<UserId>) -> Result<Order, Error>;
    /// Orders, newest first.
    async fn orders(&self, filter: OrderFilter, page: PageRequest) -> Result<Page<Order>, Error>;
    /// Records money that arrived. `received_at` at or past the deadline of a pending order: it expires now, and the money must go back.
    ///
    /// # Errors
    /// [`crate::Conflict::Payment`] where amount or currency differ; [`Error::NotFound`].
    async fn pay(&self, payment: Payment, on_cancel: UnitsOnCancel) -> Result<PaidOutcome, Error>;
    /// Gives a pending order up; its units move once.
    ///
    /// # Errors
    /// [`crate::Conflict::OrderState`] where it is paid or expired; [`Error::NotFound`].
    async fn cancel(
        &self,
        order_no: OrderNo,
        user: &UserId,
        now: EpochMs,
        on_cancel: UnitsOnCancel,
    ) -> Result<Cancelled, Error>;
    /// Expires at most `limit` pending orders whose deadline is not after `now`, oldest deadline first, in one transaction.
    async fn expire_due(&self, now: EpochMs, limit: u32, on_cancel: UnitsOnCancel) -> Result<Expired, Error>;
    /// The earliest deadline of a pending order.
    async fn next_deadline(&self) -> Result<Option<EpochMs>, Error>;
    /// Repayments that are owed.
    async fn refunds_required(&self) -> Result<u64, Error>;
}
