//! Tickets that could not be written: parked, shown to the operator, retried or discarded by him.

use async_trait::async_trait;
use seckill_sale::{ActivityId, Delivery, Epoch, EpochMs, Quantity, RequestId, Ticket, UnitTo, UserId};
use serde::{Deserialize, Serialize};

use crate::{Context, Error, Page, PageRequest};

/// Number of a dead letter.
pub type DeadLetterId = u64;

/// How far a dead letter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadLetterState {
    /// Waits for a decision.
    Parked,
    /// Went back to the queue.
    Retried,
    /// Its ticket failed.
    Discarded,
}

/// A parked ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Its number.
    pub id: DeadLetterId,
    /// The ticket.
    pub ticket: Ticket,
    /// The buyer.
    pub user: UserId,
    /// His units.
    pub quantity: Quantity,
    /// The request that bought.
    pub request_id: RequestId,
    /// Failed attempts.
    pub attempts: u32,
    /// What went wrong.
    pub reason: String,
    /// State.
    pub state: DeadLetterState,
    /// When it was parked.
    pub parked_at: EpochMs,
    /// Why it was discarded.
    pub discard_reason: Option<String>,
    /// Where its units went when it was discarded.
    pub unit_to: Option<UnitTo>,
}

/// A ticket to be parked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parking {
    /// The ticket as it was taken.
    pub delivery: Delivery,
    /// What went wrong.
    pub reason: String,
}

/// Parked tickets.
#[async_trait]
pub trait DeadLetters: Send + Sync + 'static {
    /// Parks tickets: a record in state 0 and a dead letter each. A ticket that has a final result or is parked already is left as it is.
    /// A ticket that can't even be parked as it is (its activity is unknown, its values are out of range) is parked with what can be kept.
    async fn park(&self, tickets: Vec<Parking>, now: EpochMs) -> Result<(), Error>;
    /// As [`DeadLetters::park`], for tickets of one activity that the store's state of `epoch` handed out.
    ///
    /// # Errors
    /// [`crate::Conflict::OlderState`] where a newer epoch was begun: none was parked.
    async fn park_of(&self, epoch: Epoch, tickets: Vec<Parking>, now: EpochMs) -> Result<(), Error>;
    /// Letters of an activity that were retried, and whose buyers have no record since: their tickets are with the store alone. Oldest first.
    async fn retried(&self, activity: ActivityId) -> Result<Vec<DeadLetter>, Error>;
    /// Dead letters, newest first.
    async fn dead_letters(&self, page: PageRequest) -> Result<Page<DeadLetter>, Error>;
    /// One dead letter.
    async fn dead_letter(&self, id: DeadLetterId) -> Result<DeadLetter, Error>;
    /// The newest dead letter of a ticket.
    async fn dead_letter_of(&self, ticket: Ticket) -> Result<Option<DeadLetter>, Error>;
    /// Marks a parked letter as retried and removes its record of state 0; the caller then revives the ticket. Twice is once.
    ///
    /// # Errors
    /// [`crate::Conflict::Resolved`] where it was discarded.
    async fn retry_dead_letter(&self, id: DeadLetterId, context: Context) -> Result<DeadLetter, Error>;
    /// Fails a parked ticket for good; its units go to the sale while it is open at `context.now`, else to the product, once. Twice is once.
    ///
    /// # Errors
    /// [`crate::Conflict::Resolved`] where it was retried.
    async fn discard_dead_letter(
        &self,
        id: DeadLetterId,
        reason: String,
        context: Context,
    ) -> Result<DeadLetter, Error>;
    /// Parked letters, over all activities.
    async fn parked_count(&self) -> Result<u64, Error>;
}
