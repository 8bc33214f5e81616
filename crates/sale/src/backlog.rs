//! The queue of one sale: tickets that wait for their order, those that wait for another attempt, and the dead letters.
//!
//! ```text
//! fresh ──take──▶ leased ──conclude──▶ gone
//!   ▲               │ │──retry──▶ returned (not before …) ──take──▶ leased
//!   └──── lease ────┘ └──bury──▶ dead ──revive──▶ returned
//!        expires
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::buyers::Place;
use crate::sequenced::Sequenced;
use crate::{EpochMs, Quantity, RequestId, WaitsMax};

/// A ticket that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) place: Place,
    pub(crate) request_id: RequestId,
    pub(crate) accepted_at: EpochMs,
    pub(crate) quantity: Quantity,
    pub(crate) attempts: u32,
    pub(crate) deliveries: u32,
    turn: Turn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Never taken: found by the cursor.
    Fresh,
    /// Waits in `returned` under this moment.
    Returned(EpochMs),
    /// With a worker until this moment.
    Leased(EpochMs),
}

/// A parked ticket.
#[derive(Debug)]
pub(crate) struct DeadLetter {
    pub(crate) place: Place,
    pub(crate) request_id: RequestId,
    pub(crate) accepted_at: EpochMs,
    pub(crate) quantity: Quantity,
    pub(crate) reason: String,
}

/// All tickets of a sale without a final result, by sequence.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    waiting: Sequenced<Waiting>,
    /// Everything from this sequence on is fresh.
    cursor: u64,
    returned: BTreeSet<(EpochMs, u64)>,
    leased: BTreeSet<(EpochMs, u64)>,
    dead: BTreeMap<u64, DeadLetter>,
}

impl Backlog {
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn dead(&self) -> impl Iterator<Item = (u64, &DeadLetter)> {
        self.dead.iter().map(|(&sequence, letter)| (sequence, letter))
    }

    pub(crate) fn waiting(&self, sequence: u64) -> Option<&Waiting> {
        self.waiting.get(sequence)
    }

    pub(crate) fn dead_letter(&self, sequence: u64) -> Option<&DeadLetter> {
        self.dead.get(&sequence)
    }

    pub(crate) fn dead_len(&self) -> usize {
        self.dead.len()
    }

    /// Tickets that are with a worker.
    pub(crate) fn leased(&self) -> usize {
        self.leased.len()
    }

    /// The oldest ticket that waits; dead ones do not count.
    pub(crate) fn oldest(&self) -> Option<(u64, EpochMs)> {
        let (sequence, waiting) = self.waiting.first()?;
        Some((sequence, waiting.accepted_at))
    }

    /// Adds a fresh ticket. Sequences ascend, except for tickets put back: those are returned ones.
    pub(crate) fn push(
        &mut self,
        sequence: u64,
        place: Place,
        request_id: RequestId,
        accepted_at: EpochMs,
        quantity: Quantity,
        attempts: u32,
    ) {
        let fresh = self.cursor <= sequence;
        let turn = if fresh { Turn::Fresh } else { Turn::Returned(EpochMs(0)) };
        if !fresh {
            self.returned.insert((EpochMs(0), sequence));
        }
        self.waiting.insert(
            sequence,
            Waiting {
                place,
                request_id,
                accepted_at,
                quantity,
                attempts,
                deliveries: 0,
                turn,
            },
        );
    }

    /// Hands out at most `count` tickets below `visible_below`, due ones that came back first, and marks them as leased from `now` on.
    pub(crate) fn take(&mut self, now: EpochMs, waits: WaitsMax, visible_below: u64, count: usize) -> Vec<u64> {
        self.expire_leases(now, waits.lease_ms);
        let lease_ends = now.plus(waits.lease_ms);
        let due = self.returned.range(..=(now, u64::MAX));
        let astray = self.returned.range((now.plus(waits.retry_ms.saturating_add(1)), 0)..);
        let due: Vec<_> = due.chain(astray).take(count).copied().collect();
        for key in &due {
            self.returned.remove(key);
        }
        let mut taken: Vec<u64> = due.into_iter().map(|(_, sequence)| sequence).collect();
        if taken.len() < count && self.cursor < visible_below {
            let fresh = self
                .waiting
                .from(self.cursor)
                .take_while(|&(sequence, _)| sequence < visible_below)
                .filter(|(_, waiting)| waiting.turn == Turn::Fresh);
            let before = taken.len();
            taken.extend(fresh.map(|(sequence, _)| sequence).take(count - before));
            self.cursor = if taken.len() == before {
                visible_below
            } else {
                taken[taken.len() - 1] + 1
            };
        }
        for &sequence in &taken {
            let waiting = self
                .waiting
                .get_mut(sequence)
                .expect("taken from the index of waiting tickets");
            waiting.turn = Turn::Leased(lease_ends);
            waiting.deliveries += 1;
            self.leased.insert((lease_ends, sequence));
        }
        taken
    }

    /// When a ticket that was taken before can be taken again: the earliest return or lease end.
    pub(crate) fn next_due(&self, now: EpochMs, waits: WaitsMax) -> Option<EpochMs> {
        let returned = earliest(&self.returned, now, waits.retry_ms);
        returned
            .into_iter()
            .chain(earliest(&self.leased, now, waits.lease_ms))
            .min()
    }

    /// Whether fresh tickets below `visible_below` wait.
    pub(crate) fn has_fresh(&self, visible_below: u64) -> bool {
        let next = self.waiting.from(self.cursor).next();
        next.is_some_and(|(sequence, _)| sequence < visible_below)
    }

    /// Since when something waits that can be taken at `now`.
    pub(crate) fn takable_since(&self, now: EpochMs, waits: WaitsMax) -> Option<EpochMs> {
        let fresh = self.waiting.from(self.cursor).next();
        let fresh = fresh.map(|(_, waiting)| waiting.accepted_at);
        let back = earliest(&self.returned, now, waits.retry_ms).filter(|&at| at <= now);
        fresh.into_iter().chain(back).min()
    }

    fn expire_leases(&mut self, now: EpochMs, lease_ms: i64) {
        while let Some(&(_, sequence)) = self.leased.first().filter(|&&(ends, _)| ends <= now) {
            self.give_back(sequence, EpochMs(0));
        }
        while let Some(&(_, sequence)) = self.leased.last().filter(|&&(ends, _)| now.plus(lease_ms) < ends) {
            self.give_back(sequence, EpochMs(0));
        }
    }

    /// Puts a waiting ticket under `not_before`.
    pub(crate) fn give_back(&mut self, sequence: u64, not_before: EpochMs) {
        let Some(turn) = self.waiting.get(sequence).map(|waiting| waiting.turn) else {
            return;
        };
        self.forget_turn(sequence, turn);
        self.returned.insert((not_before, sequence));
        if let Some(waiting) = self.waiting.get_mut(sequence) {
            waiting.turn = Turn::Returned(not_before);
        }
    }

    pub(crate) fn retry(&mut self, sequence: u64, attempts: u32, not_before: EpochMs) {
        self.give_back(sequence, not_before);
        if let Some(waiting) = self.waiting.get_mut(sequence) {
            waiting.attempts = attempts;
        }
    }

    fn forget_turn(&mut self, sequence: u64, turn: Turn) {
        match turn {
            Turn::Fresh => {}
            Turn::Returned(at) => {
                self.returned.remove(&(at, sequence));
            }
            Turn::Leased(ends) => {
                self.leased.remove(&(ends, sequence));
            }
        }
    }

    /// Takes a ticket out of the queue: it was concluded, or is about to be parked.
    pub(crate) fn remove(&mut self, sequence: u64) -> Option<Waiting> {
        let waiting = self.waiting.remove(sequence)?;
        self.forget_turn(sequence, waiting.turn);
        Some(waiting)
    }

    pub(crate) fn bury(&mut self, sequence: u64, reason: String) -> Option<Place> {
        let Waiting {
            place,
            request_id,
            accepted_at,
            quantity,
            ..
        } = self.remove(sequence)?;
        self.dead.insert(
            sequence,
            DeadLetter {
                place,
                request_id,
                accepted_at,
                quantity,
                reason,
            },
        );
        Some(place)
    }

    pub(crate) fn bury_restored(&mut self, sequence: u64, letter: DeadLetter) {
        self.dead.insert(sequence, letter);
    }

    pub(crate) fn remove_dead(&mut self, sequence: u64) -> Option<DeadLetter> {
        self.dead.remove(&sequence)
    }

    /// Takes a dead letter back into the queue, due at once, with its attempts forgotten.
    pub(crate) fn revive(&mut self, sequence: u64) -> Option<Place> {
        let letter = self.dead.remove(&sequence)?;
        let waiting = Waiting {
            place: letter.place,
            request_id: letter.request_id,
            accepted_at: letter.accepted_at,
            quantity: letter.quantity,
            attempts: 0,
            deliveries: 0,
            turn: Turn::Returned(EpochMs(0)),
        };
        self.waiting.insert(sequence, waiting);
        self.returned.insert((EpochMs(0), sequence));
        Some(letter.place)
    }
}

/// The first moment of `waits` by a clock that stands at `now`; `now` itself where one lies further ahead than `wait_ms_max`.
fn earliest(waits: &BTreeSet<(EpochMs, u64)>, now: EpochMs, wait_ms_max: i64) -> Option<EpochMs> {
    let (&(first, _), &(last, _)) = (waits.first()?, waits.last()?);
    let astray = now.plus(wait_ms_max) < last;
    Some(if astray { first.min(now) } else { first })
}
