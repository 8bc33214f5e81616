//! A ticket that waits for its order, as its buyer is shown it.

use seckill_sale::{EpochMs, Ticket};
#[cfg(test)]
use serde::Serialize;

use crate::state::Polls;
use crate::wording::{Digits, joined};

/// A ticket that waits for its order.
#[derive(Debug)]
#[cfg_attr(test, derive(Serialize))]
pub(crate) struct QueuedView {
    ticket: Ticket,
    state: &'static str,
    /// Tickets accepted earlier that are not settled yet; never rises.
    ahead: u64,
    /// Orders written a second, lately.
    settle_per_s: u64,
    /// The server's time at which this was so, in epoch milliseconds.
    as_of: i64,
    /// Whether it waits for a person to look at it.
    delayed: bool,
    /// Milliseconds until the next poll.
    next_poll_ms: u64,
    /// Milliseconds of silence after which a page stops asking.
    give_up_after_ms: u64,
}

impl QueuedView {
    /// What serde would write, in an eighth of its time: every buyer of the rush is told this.
    pub(crate) fn json(&self) -> Vec<u8> {
        let mut digits = [const { Digits::new() }; 5];
        let [ahead, pace, as_of, poll, give_up] = &mut digits;
        joined(&[
            b"{\"ticket\":\"",
            self.ticket.text().as_bytes(),
            b"\",\"state\":\"",
            self.state.as_bytes(),
            b"\",\"ahead\":",
            ahead.of(self.ahead),
            b",\"settle_per_s\":",
            pace.of(self.settle_per_s),
            b",\"as_of\":",
            as_of.of(self.as_of.unsigned_abs()),
            if self.delayed {
                b",\"delayed\":true"
            } else {
                b",\"delayed\":false"
            },
            b",\"next_poll_ms\":",
            poll.of(self.next_poll_ms),
            b",\"give_up_after_ms\":",
            give_up.of(self.give_up_after_ms),
            b"}",
        ])
    }
}

/// How a queued ticket stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) ahead: u64,
    pub(crate) settle_per_s: u64,
    pub(crate) delayed: bool,
    pub(crate) now: EpochMs,
    /// Milliseconds since it was accepted.
    pub(crate) age_ms: i64,
}

pub(crate) fn queued(ticket: Ticket, place: Place, polls: Polls) -> QueuedView {
    QueuedView {
        ticket,
        state: "queued",
        ahead: place.ahead,
        settle_per_s: place.settle_per_s,
        as_of: place.now.0,
        delayed: place.delayed,
        next_poll_ms: next_poll_ms(polls, place.age_ms),
        give_up_after_ms: polls.give_up_after_ms,
    }
}

/// Quick polls first, then slow ones. Nobody counts them: the age of the ticket says how many there have been.
fn next_poll_ms(polls: Polls, age_ms: i64) -> u64 {
    let quick_ms = polls.wait_first_ms * u64::from(polls.first_count);
    let age_ms = u64::try_from(age_ms).unwrap_or(0);
    if age_ms < quick_ms {
        polls.wait_first_ms
    } else {
        polls.wait_later_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLLS: Polls = Polls {
        wait_first_ms: 500,
        first_count: 3,
        wait_later_ms: 2_000,
        give_up_after_ms: 30_000,
    };

    #[test]
    fn queued_ticket_is_written_as_serde_writes_it() {
        let ticket: Ticket = "T12-3-4567".parse().expect("a ticket");
        for (ahead, delayed) in [(0, false), (u64::MAX, true)] {
            let place = Place {
                ahead,
                settle_per_s: 20_000,
                delayed,
                now: EpochMs(1_790_000_000_000),
                age_ms: 0,
            };
            let view = queued(ticket, place, POLLS);
            assert_eq!(*view.json(), *serde_json::to_vec(&view).expect("JSON"));
        }
    }

    #[test]
    fn three_quick_polls_then_slow_ones() {
        let waits = [-5, 0, 1_499, 1_500, 60_000].map(|age_ms| next_poll_ms(POLLS, age_ms));
        assert_eq!(waits, [500, 500, 500, 2_000, 2_000]);
    }
}
