//! Tickets that wait again since an operator retried their letters: the ledger has no record of them while they do.

use std::collections::HashSet;
use std::future::Future;

use seckill_ledger::{DeadLetter, Error};
use seckill_sale::{RequestKey, Restored, TicketState, UserId};

/// The letters of one sale that were retried, as one build reads them: once, where no letter was retried or discarded since.
#[derive(Default)]
pub(crate) struct Retried(Option<(u64, Vec<DeadLetter>)>);

impl Retried {
    /// The letters while `units_dead` are parked; `read` asks the ledger for them. None is parked while a state is built, so each that is
    /// retried makes the parked units fewer.
    pub(crate) async fn of<F>(&mut self, units_dead: u64, read: impl FnOnce() -> F) -> Result<&[DeadLetter], Error>
    where
        F: Future<Output = Result<Vec<DeadLetter>, Error>>,
    {
        let known = self.0.take().filter(|&(of, _)| of == units_dead);
        let letters = match known {
            Some((_, letters)) => letters,
            None => read().await?,
        };
        let (_, letters) = self.0.insert((units_dead, letters));
        Ok(letters)
    }
}

/// What is left of a state, and the tickets that wait in it since an operator retried their letters, where they are not left of it: the
/// ledger has neither a record of them nor their keys, so their buyers hear of their tickets whatever key they ask with. The oldest comes
/// first: where units are short the youngest go without.
pub(crate) fn with_retried(letters: &[DeadLetter], mut remains: Vec<Restored>) -> Vec<Restored> {
    if letters.is_empty() {
        return remains;
    }
    let left: HashSet<UserId> = remains.iter().map(|buyer| buyer.user.clone()).collect();
    for letter in letters.iter().filter(|letter| !left.contains(&letter.user)) {
        remains.push(Restored {
            user: letter.user.clone(),
            key: RequestKey([0; 16]),
            quantity: letter.quantity,
            sequence: letter.ticket.sequence,
            epoch: letter.ticket.epoch,
            accepted_at: letter.parked_at,
            state: TicketState::Queued,
            attempts: 0,
            request_id: Some(letter.request_id.clone()),
            dead_reason: String::new(),
        });
    }
    remains.sort_by_key(|buyer| (buyer.epoch, buyer.sequence));
    remains
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use seckill_ledger::DeadLetterState;
    use seckill_sale::{ActivityId, Epoch, EpochMs, Quantity, RequestId, Ticket};

    use super::*;

    #[tokio::test]
    async fn letters_are_read_once_while_the_parked_units_stay_the_same() {
        let readings = Cell::new(0);
        let read = || async {
            readings.set(readings.get() + 1);
            Ok(Vec::new())
        };
        let mut retried = Retried::default();
        for (units_dead, read_so_far) in [(2, 1), (2, 1), (1, 2), (1, 2)] {
            assert_eq!(retried.of(units_dead, read).await, Ok(&[][..]));
            assert_eq!(readings.get(), read_so_far, "with {units_dead} units parked");
        }
    }
    fn waiting(user: &str, sequence: u64) -> Restored {
        Restored {
            user: UserId::new(user).expect("a user id"),
            key: RequestKey([1; 16]),
            quantity: Quantity::ONE,
            sequence,
            epoch: Epoch::new(1).expect("in range"),
            accepted_at: EpochMs(0),
            state: TicketState::Queued,
            attempts: 0,
            request_id: None,
            dead_reason: String::new(),
        }
    }

    fn letter(user: &str, sequence: u64) -> DeadLetter {
        let Restored { user, quantity, .. } = waiting(user, sequence);
        DeadLetter {
            id: 1,
            ticket: Ticket {
                activity: ActivityId::new(1).expect("in range"),
                epoch: Epoch::new(1).expect("in range"),
                sequence,
            },
            user,
            quantity,
            request_id: RequestId::new("r").expect("well formed"),
            attempts: 5,
            reason: String::new(),
            state: DeadLetterState::Retried,
            parked_at: EpochMs(0),
            discard_reason: None,
            unit_to: None,
        }
    }

    #[test]
    fn retried_tickets_come_among_the_others_by_their_age_and_once() {
        let remains = vec![waiting("b", 2), waiting("d", 4)];
        let letters = [letter("c", 3), letter("a", 1), letter("d", 4)];
        let all = with_retried(&letters, remains);
        let users: Vec<_> = all.iter().map(|buyer| buyer.user.as_str()).collect();
        assert_eq!(users, ["a", "b", "c", "d"]);
    }
}
