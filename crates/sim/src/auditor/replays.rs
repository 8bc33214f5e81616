//! Answers to requests that were perhaps accepted before and claim nothing now.

use super::history::{Request, Span};
use super::{Auditor, TicketNumber};

/// What somebody asked for again, and heard.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    pub(crate) activity: i64,
    pub(crate) user: String,
    pub(crate) key: [u8; 16],
    pub(crate) quantity: i64,
    /// The step at which he began.
    pub(crate) began: u64,
    /// The ticket of the same request.
    pub(crate) seen: Option<TicketNumber>,
    /// Whether the store could be asked and its answer arrived.
    pub(crate) is_sure: bool,
}

impl Auditor {
    /// He hears the ticket of the same request, or that there is none.
    pub(crate) fn replayed(&mut self, replay: Replay) {
        let Replay {
            activity,
            user,
            key,
            quantity,
            began,
            seen,
            is_sure,
        } = replay;
        let request = Request {
            activity,
            user,
            key: key.to_vec(),
            quantity,
            span: Span::from(began),
        };
        if let Some(ticket) = seen {
            let own = ticket.activity == activity;
            self.check(own, "a ticket belongs to the sale that was asked", || {
                format!("{request:?}: {ticket:?}")
            });
            self.hold(&request, ticket, &key, quantity);
            return;
        }
        let holder = (activity, request.user.clone());
        let told = self.holdings.get(&holder).filter(|held| {
            let same = held.key == key && held.quantity == quantity;
            same && held.accepted.1 < began
        });
        let told = told.filter(|_| is_sure).cloned();
        self.check(told.is_none(), "the same request gets the same ticket", || {
            format!("{request:?} holds {told:?} and is not found")
        });
    }
}
