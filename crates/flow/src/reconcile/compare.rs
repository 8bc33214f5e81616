//! Decides what two readings of one buyer mean. Pure: it asks nobody.

use seckill_ledger::{LedgerRecord, RecordState};
use seckill_sale::{Buyer, FailureReason, TicketState};
use serde::Serialize;

/// What differs between store and ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// The ledger moved units of which the store does not know yet.
    MovementsUnapplied,
    /// The ledger has the final result; the store still holds the ticket as queued or dead.
    Unfinished,
    /// Parked in the ledger, queued in the store.
    ParkedInLedgerOnly,
    /// Dead in the store; the ledger does not know it as parked.
    DeadInStoreOnly,
    /// Settled in the store; the ledger has no result: it was restored from an older copy, or somebody deleted the row.
    RecordMissing,
    /// Discarded in the store; the ledger has no result.
    FailureMissing,
    /// The ledger's record says that there is an order; its row is gone.
    OrderMissing,
    /// The ledger knows the buyer; the store does not.
    BuyerMissing,
    /// Store and ledger know different tickets or quantities of the buyer.
    TicketDiffers,
    /// Both have a final result, but not the same.
    ResultDiffers,
    /// The store would sell more than the ledger has.
    LeftTooHigh,
    /// The store holds back units that the ledger has.
    LeftTooLow,
}

impl DifferenceKind {
    /// What puts it right.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::MovementsUnapplied => "reconcile with fix applies them; the scheduler does so too",
            Self::Unfinished => "reconcile with fix records the ledger's result in the store",
            Self::ParkedInLedgerOnly => "reconcile with fix parks the ticket in the store too",
            Self::DeadInStoreOnly => "reconcile with fix queues the ticket again",
            Self::RecordMissing => "reconcile with fix queues the ticket again; it becomes the same order",
            Self::FailureMissing => "reconcile with fix writes the failure into the ledger again",
            Self::OrderMissing => {
                "restore the order's row from a copy of the database: the record keeps its result, so it is not written twice"
            }
            Self::BuyerMissing => {
                "close the sale, or have the store's state built anew from the ledger: without its journal, or without the sale's keys in Redis"
            }
            Self::TicketDiffers => "decide by the request log which ticket the buyer was told",
            Self::ResultDiffers => "decide by hand: a final result is never changed",
            Self::LeftTooHigh => "reconcile with fix lowers it",
            Self::LeftTooLow => "recover raises it",
        }
    }

    /// Whether no procedure puts it right.
    pub(crate) const fn is_by_hand(self) -> bool {
        matches!(
            self,
            Self::OrderMissing | Self::BuyerMissing | Self::TicketDiffers | Self::ResultDiffers
        )
    }

    /// Whether a ticket that is with a worker looks like this for a moment.
    pub(crate) const fn may_be_in_flight(self) -> bool {
        matches!(self, Self::Unfinished | Self::ParkedInLedgerOnly)
    }
}

/// The difference between the two sides of one buyer; none where they agree.
pub(crate) fn compare(buyer: Option<&Buyer>, record: Option<&LedgerRecord>) -> Option<DifferenceKind> {
    let Some(buyer) = buyer else {
        return record.map(|_| DifferenceKind::BuyerMissing);
    };
    let Some(record) = record else {
        return match buyer.state {
            TicketState::Queued => None,
            TicketState::Dead => Some(DifferenceKind::DeadInStoreOnly),
            // Whether there is a unit for one that was oversold, the ledger has to say again.
            TicketState::Succeeded | TicketState::Failed(FailureReason::StoreOversold) => {
                Some(DifferenceKind::RecordMissing)
            }
            TicketState::Failed(FailureReason::Discarded) => Some(DifferenceKind::FailureMissing),
        };
    };
    if buyer.ticket != record.ticket || buyer.quantity != record.quantity {
        return Some(DifferenceKind::TicketDiffers);
    }
    if record.state == RecordState::Succeeded && !record.has_order {
        return Some(DifferenceKind::OrderMissing);
    }
    compare_states(buyer.state, record.state)
}

fn compare_states(store: TicketState, ledger: RecordState) -> Option<DifferenceKind> {
    match (store, ledger) {
        (TicketState::Queued, RecordState::Parked) => Some(DifferenceKind::ParkedInLedgerOnly),
        (TicketState::Dead, RecordState::Parked) | (TicketState::Succeeded, RecordState::Succeeded) => None,
        (TicketState::Failed(store), RecordState::Failed(ledger)) if store == ledger => None,
        (TicketState::Queued | TicketState::Dead, _) => Some(DifferenceKind::Unfinished),
        // The ledger is an older copy, of a time before the letter was retried or discarded.
        (TicketState::Succeeded, RecordState::Parked) => Some(DifferenceKind::RecordMissing),
        (TicketState::Failed(FailureReason::Discarded), RecordState::Parked) => Some(DifferenceKind::FailureMissing),
        (TicketState::Succeeded | TicketState::Failed(_), _) => Some(DifferenceKind::ResultDiffers),
    }
}

/// The store's side in words.
pub(crate) fn store_side(buyer: Option<&Buyer>) -> String {
    buyer.map_or_else(
        || "no entry".to_owned(),
        |buyer| format!("{} x{} {}", buyer.ticket, buyer.quantity, store_word(buyer.state)),
    )
}

fn store_word(state: TicketState) -> &'static str {
    match state {
        TicketState::Queued => "queued",
        TicketState::Dead => "dead",
        TicketState::Succeeded => "succeeded",
        TicketState::Failed(reason) => reason.as_str(),
    }
}

/// The ledger's side in words.
pub(crate) fn ledger_side(record: Option<&LedgerRecord>) -> String {
    let Some(record) = record else {
        return "no record".to_owned();
    };
    let state = match record.state {
        RecordState::Parked => "parked",
        RecordState::Succeeded if record.has_order => "succeeded",
        RecordState::Succeeded => "succeeded, but no order row",
        RecordState::Failed(reason) => reason.as_str(),
    };
    format!("{} x{} {state}", record.ticket, record.quantity)
}
