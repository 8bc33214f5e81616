//! Decides what becomes of each ticket of a batch, from what the records say and the units that are left. No database here.

use std::collections::HashMap;

use seckill_ledger::{RecordState, TicketResult};
use seckill_sale::{Delivery, FailureReason, Ticket, UserId};

/// When a batch locks the row of its sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SaleLock {
    /// Before it reads: nothing changes until its commit.
    First,
    /// When its rows are written: other batches of the sale write theirs meanwhile.
    Last,
}

/// What the ledger knows of a user in this activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) ticket: Ticket,
    pub(crate) state: RecordState,
}

/// What is to be written, as places in the batch, and what to answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// One a ticket, in their order.
    pub(crate) results: Vec<TicketResult>,
    /// Tickets that become orders.
    pub(crate) sold: Vec<usize>,
    /// Units of these.
    pub(crate) units_sold: u64,
    /// Tickets that fail because no unit is left.
    pub(crate) oversold: Vec<usize>,
    /// Tickets whose parked record is in the way of the new one.
    pub(crate) parked: Vec<usize>,
    /// Tickets that fail for an earlier one of their buyer, which failed for want of a unit.
    pub(crate) again: Vec<usize>,
}

/// Oldest first; a ticket too large for what is left does not keep a smaller one behind it from its unit.
pub(crate) fn plan<'a>(tickets: &'a [Delivery], mut known: HashMap<&'a UserId, Known>, available: u64) -> Plan {
    let mut plan = Plan {
        results: Vec::with_capacity(tickets.len()),
        sold: Vec::with_capacity(tickets.len()),
        ..Plan::default()
    };
    let mut left = available;
    for (place, delivery) in tickets.iter().enumerate() {
        let earlier = known.get(&delivery.user).copied();
        let settled = earlier.and_then(|earlier| settled_before(earlier, delivery.ticket));
        if let Some(result) = settled {
            plan.results.push(result);
            let earlier = earlier.filter(|earlier| earlier.ticket != delivery.ticket);
            if earlier.is_some_and(|earlier| earlier.state == RecordState::Failed(FailureReason::StoreOversold)) {
                plan.again.push(place);
            }
            continue;
        }
        if earlier.is_some() {
            plan.parked.push(place);
        }
        let units = delivery.quantity.get();
        let state = if units <= left {
            left -= units;
            plan.units_sold += units;
            plan.sold.push(place);
            RecordState::Succeeded
        } else {
            plan.oversold.push(place);
            RecordState::Failed(FailureReason::StoreOversold)
        };
        let now_known = Known {
            ticket: delivery.ticket,
            state,
        };
        plan.results.extend(settled_before(now_known, delivery.ticket));
        known.insert(&delivery.user, now_known);
    }
    plan
}

/// The result of `ticket` where its user's record decides it already. A user buys once: his other ticket can only come from a store
/// that had lost him, so it fails and leaves his rows alone.
fn settled_before(known: Known, ticket: Ticket) -> Option<TicketResult> {
    match known.state {
        _ if known.ticket != ticket => Some(TicketResult::Failed(FailureReason::StoreOversold)),
        RecordState::Succeeded => Some(TicketResult::Succeeded),
        RecordState::Failed(reason) => Some(TicketResult::Failed(reason)),
        RecordState::Parked => None,
    }
}

#[cfg(test)]
mod tests {
    use seckill_sale::{ActivityId, Epoch, EpochMs, Quantity, RequestId, RequestKey};

    use super::*;

    const OVERSOLD: TicketResult = TicketResult::Failed(FailureReason::StoreOversold);

    fn delivery(sequence: u64, user: &str, quantity: u64) -> Delivery {
        Delivery {
            ticket: Ticket {
                activity: ActivityId::new(1).unwrap(),
                epoch: Epoch::FIRST,
                sequence,
            },
            user: UserId::new(user).unwrap(),
            quantity: Quantity::new(quantity).unwrap(),
            key: RequestKey([0; 16]),
            accepted_at: EpochMs(0),
            request_id: RequestId::from_bits(sequence),
            attempts: 0,
            deliveries: 1,
        }
    }

    #[test]
    fn what_fits_is_sold_and_a_smaller_one_behind_still_fits() {
        let tickets = [delivery(1, "a", 2), delivery(2, "b", 2), delivery(3, "c", 1)];
        let plan = plan(&tickets, HashMap::new(), 3);
        assert_eq!(
            plan.results,
            [TicketResult::Succeeded, OVERSOLD, TicketResult::Succeeded]
        );
        assert_eq!((plan.sold, plan.oversold, plan.units_sold), (vec![0, 2], vec![1], 3));
    }

    #[test]
    fn a_ticket_twice_in_one_batch_is_sold_once() {
        let tickets = [delivery(1, "a", 1), delivery(1, "a", 1)];
        let plan = plan(&tickets, HashMap::new(), 5);
        assert_eq!(plan.results, [TicketResult::Succeeded; 2]);
        assert_eq!((plan.sold, plan.units_sold), (vec![0], 1));
    }

    #[test]
    fn another_ticket_of_the_same_user_fails_without_a_row() {
        let tickets = [delivery(1, "a", 1), delivery(2, "a", 1)];
        let plan = plan(&tickets, HashMap::new(), 5);
        assert_eq!(plan.results, [TicketResult::Succeeded, OVERSOLD]);
        assert!(plan.oversold.is_empty());
    }

    #[test]
    fn a_parked_record_makes_way_for_its_own_ticket_only() {
        let tickets = [delivery(1, "a", 1), delivery(2, "b", 1)];
        let parked = |sequence| Known {
            ticket: delivery(sequence, "x", 1).ticket,
            state: RecordState::Parked,
        };
        let known = HashMap::from([(&tickets[0].user, parked(1)), (&tickets[1].user, parked(9))]);
        let plan = plan(&tickets, known, 5);
        assert_eq!(plan.results, [TicketResult::Succeeded, OVERSOLD]);
        assert_eq!((plan.parked, plan.sold), (vec![0], vec![0]));
    }
}
