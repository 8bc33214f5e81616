//! What a buyer is shown of his ticket, in all the places where he is shown it.

use bytes::Bytes;
use seckill_flow::{Progress, PurchaseResult};
use seckill_sale::{Buyer, EpochMs, QUEUED, Ticket, TicketState};
use serde::Serialize;

use crate::call::Call;
use crate::queued_view::{Place, QueuedView, queued};
use crate::state::Polls;
use crate::wording::{Message, envelope, json};

pub(crate) const SUCCEEDED: Message = ["抢购成功，请尽快支付", "It is yours, please pay in time"];
pub(crate) const FAILED: Message = ["抢购失败", "The purchase has failed"];

/// A ticket in any state, without what changes while it waits.
#[derive(Debug, Serialize)]
pub(crate) struct TicketView {
    ticket: Ticket,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_no: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// What a buyer hears who comes again.
pub(crate) fn of_buyer(buyer: &Buyer) -> TicketView {
    ticket(buyer.ticket, buyer.state)
}

fn ticket(ticket: Ticket, state: TicketState) -> TicketView {
    let view = |state, order_no, reason| TicketView {
        ticket,
        state,
        order_no,
        reason,
    };
    match state {
        // A dead letter is the operator's word; to the buyer it waits.
        TicketState::Queued | TicketState::Dead => view("queued", None, None),
        TicketState::Succeeded => view("succeeded", Some(ticket.order_no().to_string()), None),
        TicketState::Failed(reason) => view("failed", None, Some(reason.as_str())),
    }
}

/// A result as it is shown: code 0 queued, 1 success, 2 failed.
pub(crate) enum ResultView {
    Queued(QueuedView),
    Final(u32, Message, TicketView),
}

impl ResultView {
    /// `age_ms`: milliseconds since the ticket was accepted, asked for only while it waits.
    pub(crate) fn new(result: &PurchaseResult, now: EpochMs, age_ms: impl FnOnce() -> i64, polls: Polls) -> Self {
        match result.progress {
            Progress::Queued {
                ahead,
                settle_per_s,
                delayed,
            } => {
                let age_ms = age_ms();
                let place = Place {
                    ahead,
                    settle_per_s,
                    delayed,
                    now,
                    age_ms,
                };
                Self::Queued(queued(result.ticket, place, polls))
            }
            Progress::Succeeded { .. } => Self::Final(1, SUCCEEDED, ticket(result.ticket, TicketState::Succeeded)),
            Progress::Failed { reason } => Self::Final(2, FAILED, ticket(result.ticket, TicketState::Failed(reason))),
        }
    }

    pub(crate) const fn is_final(&self) -> bool {
        matches!(self, Self::Final(..))
    }

    pub(crate) const fn code(&self) -> u32 {
        match self {
            Self::Queued(_) => 0,
            Self::Final(code, ..) => *code,
        }
    }

    pub(crate) const fn message(&self) -> Message {
        match self {
            Self::Queued(_) => QUEUED,
            Self::Final(_, message, _) => *message,
        }
    }

    pub(crate) fn json(&self) -> Vec<u8> {
        match self {
            Self::Queued(view) => view.json(),
            Self::Final(_, _, view) => json(view),
        }
    }

    /// The bytes of the good answer that says it, for whoever sends them by another way than a response.
    pub(crate) fn worded(&self, call: &Call) -> Bytes {
        envelope(
            self.code(),
            self.message(),
            call.language,
            &[&self.json()],
            &call.request_id,
        )
    }
}
