//! What happens to a sale. A sale's state is the fold of its events; an engine makes them durable and replays them after a restart.

use serde::{Deserialize, Serialize};

use crate::{Buyer, Epoch, EpochMs, Hold, Quantity, RequestId, RequestKey, Terms, TicketState, UserId};

/// Where the units of a failed ticket go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnitTo {
    /// Back into the sale: it is still open.
    Sale,
    /// Back to the product: the sale is over.
    Product,
}

/// Why a ticket failed for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The ledger has no unit for it: the store had lost state and admitted too many.
    StoreOversold,
    /// An operator discarded its dead letter, or the policy after the end did.
    Discarded,
}

impl FailureReason {
    /// All reasons.
    pub const ALL: [Self; 2] = [Self::StoreOversold, Self::Discarded];

    /// The word in answers, rows and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StoreOversold => "store_oversold",
            Self::Discarded => "discarded",
        }
    }
}

/// How a ticket ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// Its order is in the ledger.
    Succeeded,
    /// It will never have an order. `unit_to`: none where no unit may come back (`store_oversold`).
    Failed {
        /// Why.
        reason: FailureReason,
        /// Where its units go, exactly once.
        unit_to: Option<UnitTo>,
    },
}

/// The first event of a sale's state, and the first of every rebuilt one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The rules.
    pub terms: Terms,
    /// Generation of this state.
    pub epoch: Epoch,
    /// Units that can be admitted.
    pub left: u64,
    /// Sequence of the next ticket; past every one ever given out.
    pub next_sequence: u64,
    /// Last stock movement of the ledger that `left` already contains.
    pub applied_movement: u64,
}

/// A buyer put back into a rebuilt state, or written into a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The buyer.
    pub user: UserId,
    /// His request key.
    pub key: RequestKey,
    /// His units.
    pub quantity: Quantity,
    /// Sequence of his ticket.
    pub sequence: u64,
    /// Epoch of his ticket.
    pub epoch: Epoch,
    /// When he was admitted, by the store's clock.
    pub accepted_at: EpochMs,
    /// State of his ticket.
    pub state: TicketState,
    /// Failed attempts to settle so far; matters while queued.
    pub attempts: u32,
    /// The request that bought; matters while queued or dead.
    pub request_id: Option<RequestId>,
    /// Why it is dead; empty otherwise.
    pub dead_reason: String,
}

impl From<Buyer> for Restored {
    /// As the store has him: never tried yet, by a request that nobody remembers.
    fn from(buyer: Buyer) -> Self {
        Self {
            user: buyer.user,
            key: buyer.key,
            quantity: buyer.quantity,
            sequence: buyer.ticket.sequence,
            epoch: buyer.ticket.epoch,
            accepted_at: buyer.accepted_at,
            state: buyer.state,
            attempts: 0,
            request_id: None,
            dead_reason: String::new(),
        }
    }
}

/// One admission: stock, buyer and order intent in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// Place in the order of acceptance.
    pub sequence: u64,
    /// The buyer.
    pub user: UserId,
    /// His request key.
    pub key: RequestKey,
    /// His units.
    pub quantity: Quantity,
    /// The store's time of the decision.
    pub accepted_at: EpochMs,
    /// The request, for log lines down to the worker.
    pub request_id: RequestId,
}

/// One change of a sale's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The state begins (anew).
    Opened(Opened),
    /// A buyer is put back.
    Restored(Box<Restored>),
    /// A purchase was admitted.
    Claimed(Claimed),
    /// A ticket got its final result.
    Concluded {
        /// The ticket.
        sequence: u64,
        /// The result.
        conclusion: Conclusion,
    },
    /// A ticket goes back to the queue after a failed attempt.
    Retried {
        /// The ticket.
        sequence: u64,
        /// Failed attempts so far.
        attempts: u32,
        /// Not to be taken before this moment.
        not_before: EpochMs,
    },
    /// A ticket was parked as a dead letter; it keeps its units.
    Buried {
        /// The ticket.
        sequence: u64,
        /// Why, for the operator.
        reason: String,
    },
    /// A dead letter goes back to the queue.
    Revived {
        /// The ticket.
        sequence: u64,
    },
    /// A buyer whose result the ledger does not have is queued again.
    Requeued {
        /// The buyer.
        user: UserId,
    },
    /// Units came or went by a movement of the ledger.
    Moved {
        /// Id of the ledger's movement row; ascending within an activity.
        movement: u64,
        /// Units added (or taken, where negative).
        delta: i64,
    },
    /// Rules or status changed.
    Changed(Terms),
    /// The state was recomputed from the ledger under a new epoch.
    Rebased {
        /// The new epoch.
        epoch: Epoch,
        /// Units that can be admitted.
        left: u64,
        /// Last movement that `left` contains.
        applied_movement: u64,
    },
    /// A buyer's entry was removed by hand. The audit must notice.
    Erased {
        /// The buyer.
        user: UserId,
    },
    /// An operator paused the sale; the ledger may not know it yet.
    Held(Hold),
    /// The hold is over: the ledger knows of it, or has refused it.
    Released,
}
