//! What the store knows of one buyer, as it is told and as it is kept.

use crate::{Epoch, EpochMs, FailureReason, Quantity, RequestKey, Ticket, UserId};

/// How far a ticket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TicketState {
    /// Waits for its order to be written.
    Queued,
    /// Parked as a dead letter; to the buyer it is still queued, delayed.
    Dead,
    /// Its order is in the ledger.
    Succeeded,
    /// Ended without an order.
    Failed(FailureReason),
}

/// What the store knows of one buyer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buyer {
    /// Who.
    pub user: UserId,
    /// His ticket.
    pub ticket: Ticket,
    /// His units.
    pub quantity: Quantity,
    /// The key of the request that bought.
    pub key: RequestKey,
    /// The store's time of the decision.
    pub accepted_at: EpochMs,
    /// How far his ticket is.
    pub state: TicketState,
}

/// One buyer without the id's bytes: 48 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) key: RequestKey,
    pub(crate) sequence: u64,
    pub(crate) accepted_at: EpochMs,
    pub(crate) quantity: Quantity,
    pub(crate) epoch: Epoch,
    pub(crate) text_at: u32,
    pub(crate) text_length: u8,
    pub(crate) state: State,
}

/// [`TicketState`] in one byte, and the mark of an erased entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Queued,
    Dead,
    Succeeded,
    StoreOversold,
    Discarded,
    Erased,
}

impl From<TicketState> for State {
    fn from(state: TicketState) -> Self {
        match state {
            TicketState::Queued => Self::Queued,
            TicketState::Dead => Self::Dead,
            TicketState::Succeeded => Self::Succeeded,
            TicketState::Failed(FailureReason::StoreOversold) => Self::StoreOversold,
            TicketState::Failed(FailureReason::Discarded) => Self::Discarded,
        }
    }
}

impl Entry {
    pub(crate) fn new(
        key: RequestKey,
        sequence: u64,
        epoch: Epoch,
        quantity: Quantity,
        accepted_at: EpochMs,
        state: TicketState,
    ) -> Self {
        Self {
            key,
            sequence,
            accepted_at,
            quantity,
            epoch,
            text_at: 0,
            text_length: 0,
            state: state.into(),
        }
    }

    pub(crate) fn state(&self) -> TicketState {
        match self.state {
            State::Queued => TicketState::Queued,
            State::Dead => TicketState::Dead,
            State::Succeeded => TicketState::Succeeded,
            State::StoreOversold => TicketState::Failed(FailureReason::StoreOversold),
            State::Discarded | State::Erased => TicketState::Failed(FailureReason::Discarded),
        }
    }
}
