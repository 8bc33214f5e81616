//! What an answer means to somebody who wants to buy.

use crate::client::{Answer, Unanswered};

/// What an answer means to somebody who wants to buy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// He has a ticket now.
    Accepted,
    /// He has one from before.
    HasTicket,
    /// He won't get any.
    Refused,
    /// He shall come later.
    Later,
    /// The same, and it may have been carried out.
    Busy,
    /// There was no answer.
    Nothing,
}

impl Heard {
    pub(super) fn of(outcome: Result<Answer<'_>, Unanswered>) -> Self {
        match outcome.map(|answer| answer.status) {
            Ok(200..=299) => Self::Accepted,
            Ok(409) => Self::HasTicket,
            Ok(429) => Self::Later,
            Ok(503) => Self::Busy,
            Ok(_) => Self::Refused,
            Err(_) => Self::Nothing,
        }
    }
}
