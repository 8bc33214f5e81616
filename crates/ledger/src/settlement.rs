//! Tickets become orders here: one transaction a batch.

use async_trait::async_trait;
use seckill_sale::{ActivityId, Delivery, Epoch, EpochMs, FailureReason, Quantity, RequestKey, Ticket, UserId};

use crate::{Error, Page, PageRequest};

/// Tickets of one activity to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettleBatch {
    /// The activity.
    pub activity: ActivityId,
    /// When the sale was created whose state handed the tickets out; none where that is not known. Those of another sale, which had this
    /// number in a ledger that was lost, are refused.
    pub created_at: Option<EpochMs>,
    /// Its tickets, oldest first.
    pub tickets: Vec<Delivery>,
    /// When.
    pub now: EpochMs,
    /// How long an order may wait for its payment, in milliseconds from now.
    pub pay_within_ms: i64,
}

/// What became of a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TicketResult {
    /// Its order is there, since now or since an earlier delivery.
    Succeeded,
    /// It has failed, now or earlier.
    Failed(FailureReason),
}

/// What became of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Number of this settlement; counts up with every committed batch of the installation. 0 where the ledger was told not to count.
    pub batch: u64,
    /// One result a ticket, in their order.
    pub results: Vec<TicketResult>,
    /// Orders that are new.
    pub orders_written: u64,
}

/// State of a ticket's record: 0, 1 or 2 in the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordState {
    /// Parked as a dead letter.
    Parked,
    /// Has an order.
    Succeeded,
    /// Has failed.
    Failed(FailureReason),
}

/// The ledger's record of a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRecord {
    /// The ticket.
    pub ticket: Ticket,
    /// The buyer.
    pub user: UserId,
    /// His units.
    pub quantity: Quantity,
    /// His request key.
    pub key: RequestKey,
    /// The store's time of the decision.
    pub accepted_at: EpochMs,
    /// State.
    pub state: RecordState,
    /// Whether the order row of this ticket is there.
    pub has_order: bool,
    /// Why it is parked; empty otherwise.
    pub parked_reason: String,
}

/// Units of an activity counted from the ledger's rows, in one consistent reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Units ever given to the sale.
    pub stock_total: u64,
    /// Units neither sold nor returned, as the stock row says.
    pub available: u64,
    /// Units of records with an order.
    pub succeeded: u64,
    /// Units of failed records.
    pub failed: u64,
    /// Units of parked records.
    pub dead: u64,
    /// Units of orders that are paid or wait for payment.
    pub orders_live: u64,
    /// Units of cancelled and expired orders.
    pub orders_cancelled: u64,
    /// Units given back to the product.
    pub returned: u64,
    /// Id of the newest movement that the store has to apply.
    pub last_store_movement: u64,
}

/// Writing and reading results.
#[async_trait]
pub trait Settlement: Send + Sync + 'static {
    /// Writes a batch: stock row locked and guarded, orders, records, one movement. Tickets that were settled before keep their result.
    /// Where units are short, what fits is settled, oldest first; the rest fail as `store_oversold`.
    ///
    /// # Errors
    /// [`Error::Outage`]: nothing was decided. [`Error::Rejected`]: a row of the batch cannot be written; split it.
    /// [`Error::NotFound`]: no such activity. [`crate::Conflict::AnotherSale`]: nothing was decided.
    async fn settle(&self, batch: SettleBatch) -> Result<Settled, Error>;

    /// As [`Settlement::settle`], for tickets that the store's state of `epoch` handed out. Once a newer epoch was begun
    /// ([`crate::Catalog::begin_opening`]), nothing is settled for an older state: what is counted then stays as it was counted.
    ///
    /// # Errors
    /// [`crate::Conflict::OlderState`]: nothing was decided.
    async fn settle_of(&self, epoch: Epoch, batch: SettleBatch) -> Result<Settled, Error>;

    /// As [`Settlement::settle_of`] where the store's state of `epoch` has no unit left: tickets without a final result fail as
    /// `store_oversold`, and no unit moves. A newer state may have one.
    ///
    /// # Errors
    /// As those of [`Settlement::settle_of`].
    async fn fail_of(&self, epoch: Epoch, batch: SettleBatch) -> Result<Settled, Error>;

    /// The record of a user.
    async fn record(&self, activity: ActivityId, user: &UserId) -> Result<Option<LedgerRecord>, Error>;

    /// All records of an activity, by user.
    async fn records(&self, activity: ActivityId, page: PageRequest) -> Result<Page<LedgerRecord>, Error>;

    /// The records of these users; users without one are left out.
    async fn records_of(&self, activity: ActivityId, users: Vec<UserId>) -> Result<Vec<LedgerRecord>, Error>;

    /// Of all tickets that have a record, the one accepted last; none where there is no record. A store that did not issue it has lost
    /// what it knew.
    async fn newest_ticket(&self, activity: ActivityId) -> Result<Option<Ticket>, Error>;

    /// Units counted from rows.
    async fn tally(&self, activity: ActivityId) -> Result<Tally, Error>;
}
