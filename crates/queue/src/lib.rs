//! Contract of the queue layer: accepted tickets wait here, durable, until the ledger has their final result.
//!
//! The trait and its conformance suite. Intents get into the queue by the claim itself, in the same atomic step; there is no `put`.

pub mod conformance;
mod turns;

use async_trait::async_trait;
use seckill_sale::{ActivityId, Buyer, Conclusion, Delivery, Epoch, EpochMs, FailureReason, InQueue, Ticket};

pub use turns::Turns;

/// Why the queue gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing was changed.
    #[error("the queue cannot be reached; nothing was changed")]
    Unavailable,
    /// It may or may not have been done; doing it again is harmless.
    #[error("the queue's answer was lost; the outcome is not known")]
    OutcomeUnknown,
}

/// What a worker says of a ticket that it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The ledger has its final result.
    Conclude(Conclusion),
    /// A failed attempt: take it again, not before this moment.
    Retry {
        /// Failed attempts so far, this one included.
        attempts: u32,
        /// Not before.
        not_before: EpochMs,
    },
    /// Not an attempt (the ledger was down): take it again, not before this moment. Costs no write.
    GiveBack {
        /// Not before.
        not_before: EpochMs,
    },
    /// Parked as a dead letter; the ledger has it as parked.
    Bury {
        /// Why, for the operator.
        reason: String,
    },
}

/// What a worker says of a whole batch, recorded in one step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdicts {
    /// One verdict a ticket.
    pub tickets: Vec<(Ticket, Verdict)>,
    /// Number of the ledger's settlement batch that wrote the results; 0 where it wrote none. The queue keeps the highest:
    /// a ledger that later shows a smaller one was restored from an older copy.
    pub settled_batch: u64,
}

/// Tickets that were handed out together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Taken {
    /// The tickets, of one sale.
    pub tickets: Vec<Delivery>,
    /// Epoch of the state that they stand in; none where no other can take its place while they are with a worker.
    pub epoch: Option<Epoch>,
    /// When the sale was created that the state says it is of; none where it does not say.
    pub created_at: Option<EpochMs>,
}

/// Tickets whose state was replaced, by a handle that admitted them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Orphans {
    /// The tickets, of one sale.
    pub tickets: Vec<Delivery>,
    /// As [`Taken::created_at`], as the state that had them said.
    pub created_at: Option<EpochMs>,
}

/// How a ticket is offered to a state that may not know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adoption {
    /// It waits again, with a unit where one is left. Its window was checked when it was admitted.
    Waiting,
    /// It has failed, and has no unit. The ledger has it so.
    Failed(FailureReason),
}

/// What became of a ticket that was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adopted {
    /// It waits in the state, now or still, with its unit.
    Waits,
    /// It is final or dead there, now or already.
    Known,
    /// No unit is left for it, and this state gives it none any more, whoever offers it; the state does not know it.
    NoUnit,
    /// Its buyer has another ticket there; this one is void.
    Void,
}

/// How full the queue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Depth {
    /// Tickets that wait, taken ones included, dead ones not.
    pub tickets: u64,
    /// When the oldest of them was accepted.
    pub oldest_accepted_at: Option<EpochMs>,
    /// When the newest ticket of all was accepted, waiting or not.
    pub newest_accepted_at: Option<EpochMs>,
    /// Dead letters.
    pub dead: u64,
}

/// What one sale has of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaleDepth {
    /// The sale.
    pub activity: ActivityId,
    /// Its tickets that wait, as [`Depth::tickets`], and its units.
    pub in_queue: InQueue,
    /// When the oldest of them was accepted.
    pub oldest_accepted_at: Option<EpochMs>,
}

/// The queue of all sales. Delivery is at least once: what is not concluded when its lease ends is handed out again.
#[async_trait]
pub trait Queue: Send + Sync + 'static {
    /// Hands out at most `count` durable tickets of one sale; empty where none can be taken now. Sales take turns ([`Turns`]): next is the one
    /// that was served longest ago, of those never served the one with the longest wait.
    async fn take(&self, count: usize) -> Result<Vec<Delivery>, Error>;

    /// As [`Queue::take`], with the generation of the state: a ledger that has a newer one refuses what comes from it.
    async fn take_of_state(&self, count: usize) -> Result<Taken, Error> {
        let tickets = self.take(count).await?;
        Ok(Taken {
            tickets,
            ..Taken::default()
        })
    }

    /// Offers tickets of one sale that a worker had when their state was lost to the one that took its place: same ticket, same user, key and
    /// quantity. Each is adopted once, however often it is offered. A queue that never loses a state has them still.
    ///
    /// # Errors
    /// The sale has no state that can be used now: offer them again.
    async fn adopt(&self, tickets: Vec<Delivery>, _adoption: Adoption) -> Result<Vec<Adopted>, Error> {
        Ok(vec![Adopted::Waits; tickets.len()])
    }

    /// Whether states can be lost while this handle goes on.
    fn loses_states(&self) -> bool {
        false
    }

    /// Whether [`Queue::orphans`] has any. Costs no IO.
    fn has_orphans(&self) -> bool {
        false
    }

    /// Tickets that were admitted through this handle, are not settled as far as it knows, and whose state was replaced since: to be offered
    /// to the present one. Each is told once for each such state. Costs no IO.
    fn orphans(&self) -> Vec<Orphans> {
        Vec::new()
    }

    /// Returns when tickets can perhaps be taken. May return early, never late by more than a lease.
    async fn ready(&self);

    /// Records the verdicts of a batch, all or none, durable before it returns. Verdicts on tickets that are final already change nothing.
    async fn record(&self, verdicts: Verdicts) -> Result<(), Error>;

    /// Takes a dead letter back into the queue. A ticket that is not dead is left as it is.
    async fn revive(&self, ticket: Ticket) -> Result<(), Error>;

    /// The dead letters of a sale with their reasons.
    async fn dead_letters(&self, activity: ActivityId) -> Result<Vec<(Buyer, String)>, Error>;

    /// How full it is, as last published. Costs no IO.
    fn depth(&self) -> Depth;

    /// The same of each sale that has a state, each once. Costs no IO.
    fn depths(&self) -> Vec<SaleDepth>;
}
