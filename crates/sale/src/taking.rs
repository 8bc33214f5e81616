//! Handing tickets of a sale to workers: which one is next, since when it could be taken, and how it comes back.

use crate::{EpochMs, InQueue, Quantity, RequestId, RequestKey, Sale, Ticket, UserId};

/// The longest waits that a ticket may have, in milliseconds. A wait that lies further ahead than its own was set by a clock that has gone
/// back since: it counts as over, instead of lasting until the clock has caught up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitsMax {
    /// How long a worker may hold tickets.
    pub lease_ms: i64,
    /// How long a ticket may wait for its next attempt.
    pub retry_ms: i64,
}

/// A ticket handed to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The ticket.
    pub ticket: Ticket,
    /// The buyer.
    pub user: UserId,
    /// His units.
    pub quantity: Quantity,
    /// His request key.
    pub key: RequestKey,
    /// The store's time of the decision.
    pub accepted_at: EpochMs,
    /// The request that bought.
    pub request_id: RequestId,
    /// Failed attempts to settle so far.
    pub attempts: u32,
    /// How often it was handed out since the process started, this time included.
    pub deliveries: u32,
}

impl Sale {
    /// Hands out at most `count` durable tickets, marked as with a worker for as long as `waits` allows.
    pub fn take(&mut self, now: EpochMs, waits: WaitsMax, count: usize) -> Vec<Delivery> {
        let taken = self.backlog.take(now, waits, self.next_sequence, count);
        taken
            .into_iter()
            .filter_map(|sequence| self.delivery(sequence))
            .collect()
    }

    fn delivery(&self, sequence: u64) -> Option<Delivery> {
        let waiting = self.backlog.waiting(sequence)?;
        let (user, entry) = self.view.buyers.read(waiting.place);
        Some(Delivery {
            ticket: Ticket {
                activity: self.terms.activity,
                epoch: entry.epoch,
                sequence,
            },
            user,
            quantity: waiting.quantity,
            key: entry.key,
            accepted_at: waiting.accepted_at,
            request_id: waiting.request_id.clone(),
            attempts: waiting.attempts,
            deliveries: waiting.deliveries,
        })
    }

    /// Gives taken tickets back without counting an attempt: their worker could not reach the ledger.
    pub fn give_back(&mut self, sequence: u64, not_before: EpochMs) {
        self.backlog.give_back(sequence, not_before);
    }

    /// Tickets that wait.
    #[must_use]
    pub fn queued_tickets(&self) -> usize {
        self.backlog.len()
    }

    /// What it has of the queue, and may still bring into it.
    #[must_use]
    pub fn in_queue(&self) -> InQueue {
        InQueue {
            tickets: self.backlog.len() as u64,
            units: if self.is_open() { self.left } else { 0 },
        }
    }

    /// Dead letters.
    #[must_use]
    pub fn dead_tickets(&self) -> usize {
        self.backlog.dead_len()
    }

    /// Whether a ticket can be taken now that was never taken before.
    fn has_fresh(&self) -> bool {
        self.backlog.has_fresh(self.next_sequence)
    }

    /// Whether any ticket can be taken at `now`.
    #[must_use]
    pub fn is_takable(&self, now: EpochMs, waits: WaitsMax) -> bool {
        self.has_fresh() || self.next_due(now, waits).is_some_and(|at| at <= now)
    }

    /// When the next ticket that was taken before can be taken again.
    #[must_use]
    pub fn next_due(&self, now: EpochMs, waits: WaitsMax) -> Option<EpochMs> {
        self.backlog.next_due(now, waits)
    }

    /// Since when something waits that can be taken at `now`: sales are served by it.
    #[must_use]
    pub fn takable_since(&self, now: EpochMs, waits: WaitsMax) -> Option<EpochMs> {
        self.backlog.takable_since(now, waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ActivityId, Claimed, Epoch, Event, Opened, Status, Terms, Window};

    const WAITS: WaitsMax = WaitsMax {
        lease_ms: 30_000,
        retry_ms: 60_000,
    };
    const NOW: EpochMs = EpochMs(10_000_000);
    const EARLIER: EpochMs = EpochMs(NOW.0 - 3_600_000);

    /// A sale with one ticket, whose sequence is 1.
    fn sale() -> Sale {
        let window = Window {
            starts_at: EpochMs(0),
            ends_at: EpochMs(i64::MAX),
        };
        let terms = Terms {
            activity: ActivityId::new(1).expect("in range"),
            window,
            per_user_limit: Quantity::ONE,
            status: Status::Running,
            created_at: None,
        };
        let mut sale = Sale::open(&Opened {
            terms,
            epoch: Epoch::FIRST,
            left: 1,
            next_sequence: 1,
            applied_movement: 0,
        });
        sale.apply(&Event::Claimed(Claimed {
            sequence: 1,
            user: UserId::new("a").expect("valid"),
            key: RequestKey([0; 16]),
            quantity: Quantity::ONE,
            accepted_at: NOW,
            request_id: RequestId::from_bits(1),
        }));
        sale
    }

    #[test]
    fn lease_of_a_clock_that_has_gone_back_is_over() {
        let mut sale = sale();
        assert_eq!(sale.take(NOW, WAITS, 1).len(), 1);
        assert_eq!(sale.take(NOW, WAITS, 1).len(), 0, "it is with a worker");
        assert_eq!(sale.next_due(EARLIER, WAITS), Some(EARLIER));
        assert_eq!(sale.take(EARLIER, WAITS, 1).len(), 1);
        assert_eq!(sale.next_due(EARLIER, WAITS), Some(EARLIER.plus(WAITS.lease_ms)));
    }

    #[test]
    fn retry_that_waits_longer_than_any_may_is_due() {
        let mut sale = sale();
        assert_eq!(sale.take(NOW, WAITS, 1).len(), 1);
        let not_before = NOW.plus(WAITS.retry_ms);
        sale.apply(&Event::Retried {
            sequence: 1,
            attempts: 1,
            not_before,
        });
        assert_eq!(sale.next_due(NOW, WAITS), Some(not_before));
        assert_eq!(sale.takable_since(NOW, WAITS), None);
        assert_eq!(sale.take(NOW, WAITS, 1).len(), 0, "it rests");
        let earlier = NOW.plus(-1);
        assert_eq!(sale.next_due(earlier, WAITS), Some(earlier));
        assert_eq!(sale.takable_since(earlier, WAITS), Some(earlier));
        assert_eq!(sale.take(earlier, WAITS, 1).len(), 1);
    }
}
