//! A claim and what a sale decides about it. Deciding changes nothing.

use crate::buyer::Entry;
use crate::event::Claimed;
use crate::{ActivityId, Buyer, EpochMs, Quantity, Refusal, RequestId, RequestKey, Sale, Status, UserId};

/// A request for units, past the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The sale.
    pub activity: ActivityId,
    /// The buyer.
    pub user: UserId,
    /// What makes the request idempotent.
    pub key: RequestKey,
    /// Units wanted.
    pub quantity: Quantity,
    /// The request, for logs.
    pub request_id: RequestId,
}

/// What a claim would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Admit: apply and keep this event.
    Admit(Claimed),
    /// The same request was admitted before.
    Replay(Box<Buyer>),
    /// No.
    Refuse(Refusal),
}

impl Sale {
    /// What `claim` would do at `now`, while the queue takes `room` more tickets.
    ///
    /// Order: the same request again, status, window, earlier ticket, limit, stock, room.
    #[must_use]
    pub fn decide(&self, claim: &Claim, now: EpochMs, room: u64) -> Decision {
        let earlier = self.view.buyers.get(&claim.user);
        if let Some((_, entry)) = &earlier
            && entry.key == claim.key
        {
            return match entry.quantity == claim.quantity {
                true => Decision::Replay(Box::new(self.view.buyer_of(claim.user.clone(), entry))),
                false => Decision::Refuse(Refusal::KeyReused),
            };
        }
        match self.refusal(earlier.map(|(_, entry)| entry), claim, now, room) {
            Some(refusal) => Decision::Refuse(refusal),
            None => Decision::Admit(Claimed {
                sequence: self.next_sequence,
                user: claim.user.clone(),
                key: claim.key,
                quantity: claim.quantity,
                accepted_at: now,
                request_id: claim.request_id.clone(),
            }),
        }
    }

    fn refusal(&self, earlier: Option<Entry>, claim: &Claim, now: EpochMs, room: u64) -> Option<Refusal> {
        let window = self.terms.window;
        match self.terms.status {
            Status::Closed => return Some(Refusal::Ended),
            Status::Paused | Status::Draft => return Some(Refusal::Paused { resumes_at: None }),
            Status::Running => {}
        }
        if let Some(hold) = self.held {
            let resumes_at = hold.resumes_at;
            return Some(Refusal::Paused { resumes_at });
        }
        if now < window.starts_at {
            return Some(Refusal::NotStarted {
                starts_at: window.starts_at,
            });
        }
        if window.ends_at <= now {
            return Some(Refusal::Ended);
        }
        if let Some(entry) = earlier {
            return Some(Refusal::AlreadyTook(Box::new(
                self.view.buyer_of(claim.user.clone(), &entry),
            )));
        }
        if self.terms.per_user_limit < claim.quantity {
            return Some(Refusal::QuantityAboveLimit);
        }
        if self.left < claim.quantity.get() {
            return Some(Refusal::SoldOut);
        }
        (room == 0).then_some(Refusal::BacklogFull)
    }
}
