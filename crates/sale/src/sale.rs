//! The state machine of one sale: `decide` says what a claim would do, `apply` does what an event says. Deciding changes nothing;
//! applying never fails and never looks at a clock, so replaying the same events always ends in the same state. One owner drives it;
//! every core reads its [`SaleView`].

use std::sync::Arc;

use crate::backlog::{Backlog, DeadLetter};
use crate::buyer::Entry;
use crate::buyers::Place;
use crate::event::{Claimed, Conclusion, Event, Opened, Restored, UnitTo};
use crate::publishing::Published;
use crate::{Buyer, Epoch, EpochMs, Figures, Hold, RequestId, SaleView, Status, Terms, TicketState, UserId};

/// Units counted over the buyers, by the state of their tickets.
#[derive(Debug, Clone, Copy, Default)]
struct Units {
    accepted: u64,
    queued: u64,
    dead: u64,
}

/// One sale.
#[derive(Debug)]
pub struct Sale {
    pub(crate) view: Arc<SaleView>,
    pub(crate) terms: Terms,
    pub(crate) epoch: Epoch,
    pub(crate) left: u64,
    pub(crate) next_sequence: u64,
    pub(crate) applied_movement: u64,
    units: Units,
    pub(crate) backlog: Backlog,
    pub(crate) held: Option<Hold>,
    pub(crate) revision: u64,
    pub(crate) published: Published,
}

impl Sale {
    /// The state that begins with `opened`.
    #[must_use]
    pub fn open(opened: &Opened) -> Self {
        let view = SaleView::new(opened.terms.activity, opened.left);
        view.set_created_at(opened.terms.created_at);
        Self {
            view: Arc::new(view),
            terms: opened.terms,
            epoch: opened.epoch,
            left: opened.left,
            next_sequence: opened.next_sequence,
            applied_movement: opened.applied_movement,
            units: Units::default(),
            backlog: Backlog::default(),
            held: None,
            revision: 0,
            published: Published::default(),
        }
    }

    /// What every core may read.
    #[must_use]
    pub const fn view(&self) -> &Arc<SaleView> {
        &self.view
    }

    /// The rules in force.
    #[must_use]
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Generation of the state.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// A buyer, durable or not: only for the owner, who answers after the next sync.
    #[must_use]
    pub fn buyer(&self, user: &UserId) -> Option<Buyer> {
        let (_, entry) = self.view.buyers.get(user)?;
        Some(self.view.buyer_of(user.clone(), &entry))
    }

    /// Where the units of a ticket that fails at `now` belong: the sale while it is open, else the product.
    #[must_use]
    pub fn unit_to(&self, now: EpochMs) -> UnitTo {
        let over = self.terms.status == Status::Closed || self.terms.window.ends_at <= now;
        if over { UnitTo::Product } else { UnitTo::Sale }
    }

    /// Does what `event` says. Events that were done before change nothing.
    pub fn apply(&mut self, event: &Event) {
        self.revision += 1;
        match event {
            Event::Opened(_) => {}
            Event::Restored(restored) => self.restore(restored),
            Event::Claimed(claimed) => self.admit(claimed),
            Event::Concluded { sequence, conclusion } => self.conclude(*sequence, *conclusion),
            Event::Retried {
                sequence,
                attempts,
                not_before,
            } => self.backlog.retry(*sequence, *attempts, *not_before),
            Event::Buried { sequence, reason } => self.bury(*sequence, reason),
            Event::Revived { sequence } => self.revive(*sequence),
            Event::Requeued { user } => self.requeue(user),
            Event::Moved { movement, delta } => self.move_units(*movement, *delta),
            Event::Changed(terms) => self.change(terms),
            Event::Rebased {
                epoch,
                left,
                applied_movement,
            } => {
                (self.epoch, self.left, self.applied_movement) = (*epoch, *left, *applied_movement);
            }
            Event::Erased { user } => self.erase(user),
            Event::Held(hold) => self.held = Some(*hold),
            Event::Released => self.held = None,
        }
    }

    fn admit(&mut self, claimed: &Claimed) {
        let Claimed {
            sequence,
            ref user,
            key,
            quantity,
            accepted_at,
            ref request_id,
        } = *claimed;
        let entry = Entry::new(key, sequence, self.epoch, quantity, accepted_at, TicketState::Queued);
        let place = self.view.buyers.insert(user, entry);
        self.backlog
            .push(sequence, place, request_id.clone(), accepted_at, quantity, 0);
        self.left -= quantity.get();
        self.next_sequence = sequence + 1;
        self.units.accepted += quantity.get();
        self.units.queued += quantity.get();
    }

    fn restore(&mut self, restored: &Restored) {
        if self.view.buyers.get(&restored.user).is_some() {
            return;
        }
        let Restored {
            key,
            quantity,
            sequence,
            epoch,
            accepted_at,
            state,
            attempts,
            ..
        } = *restored;
        let place = self.view.buyers.insert(
            &restored.user,
            Entry::new(key, sequence, epoch, quantity, accepted_at, state),
        );
        let request_id = || {
            restored
                .request_id
                .clone()
                .unwrap_or_else(|| RequestId::from_bits(sequence))
        };
        self.next_sequence = self.next_sequence.max(sequence + 1);
        self.units.accepted += quantity.get();
        match state {
            TicketState::Queued => {
                self.units.queued += quantity.get();
                self.backlog
                    .push(sequence, place, request_id(), accepted_at, quantity, attempts);
            }
            TicketState::Dead => {
                self.units.dead += quantity.get();
                let letter = DeadLetter {
                    place,
                    request_id: request_id(),
                    accepted_at,
                    quantity,
                    reason: restored.dead_reason.clone(),
                };
                self.backlog.bury_restored(sequence, letter);
            }
            TicketState::Succeeded | TicketState::Failed(_) => {}
        }
    }

    fn conclude(&mut self, sequence: u64, conclusion: Conclusion) {
        let (place, units) = if let Some(waiting) = self.backlog.remove(sequence) {
            self.units.queued -= waiting.quantity.get();
            (waiting.place, waiting.quantity.get())
        } else if let Some(letter) = self.backlog.remove_dead(sequence) {
            self.units.dead -= letter.quantity.get();
            (letter.place, letter.quantity.get())
        } else {
            return;
        };
        let state = match conclusion {
            Conclusion::Succeeded => TicketState::Succeeded,
            Conclusion::Failed { reason, unit_to } => {
                if unit_to == Some(UnitTo::Sale) {
                    self.left += units;
                }
                TicketState::Failed(reason)
            }
        };
        self.view.buyers.set_state(place, state);
    }

    fn bury(&mut self, sequence: u64, reason: &str) {
        let Some(place) = self.backlog.bury(sequence, reason.to_owned()) else {
            return;
        };
        self.change_pool(place, TicketState::Dead);
    }

    fn revive(&mut self, sequence: u64) {
        let Some(place) = self.backlog.revive(sequence) else {
            return;
        };
        self.change_pool(place, TicketState::Queued);
    }

    /// Moves a ticket's units between queued and dead, and marks the buyer.
    fn change_pool(&mut self, place: Place, state: TicketState) {
        let (_, entry) = self.view.buyers.read(place);
        let units = entry.quantity.get();
        let (from, to) = match state {
            TicketState::Dead => (&mut self.units.queued, &mut self.units.dead),
            _ => (&mut self.units.dead, &mut self.units.queued),
        };
        *from -= units;
        *to += units;
        self.view.buyers.set_state(place, state);
    }

    fn requeue(&mut self, user: &UserId) {
        let Some((place, entry)) = self.view.buyers.get(user) else {
            return;
        };
        if !SaleView::is_final(entry.state()) {
            return;
        }
        self.units.queued += entry.quantity.get();
        self.view.buyers.set_state(place, TicketState::Queued);
        let request_id = RequestId::from_bits(entry.sequence);
        self.backlog
            .push(entry.sequence, place, request_id, entry.accepted_at, entry.quantity, 0);
    }

    /// Whose state it is does not change; one of which that was not known learns it.
    fn change(&mut self, terms: &Terms) {
        let created_at = self.terms.created_at.or(terms.created_at);
        self.terms = Terms { created_at, ..*terms };
        self.view.set_created_at(created_at);
    }

    fn move_units(&mut self, movement: u64, delta: i64) {
        if movement <= self.applied_movement {
            return;
        }
        self.applied_movement = movement;
        self.left = self.left.saturating_add_signed(delta);
    }

    fn erase(&mut self, user: &UserId) {
        let Some((_, entry)) = self.view.buyers.erase(user) else {
            return;
        };
        let units = entry.quantity.get();
        self.units.accepted -= units;
        if self.backlog.remove(entry.sequence).is_some() {
            self.units.queued -= units;
        } else if self.backlog.remove_dead(entry.sequence).is_some() {
            self.units.dead -= units;
        }
    }

    /// The buyer and reason of a dead letter.
    #[must_use]
    pub fn dead_letters(&self) -> Vec<(Buyer, String)> {
        let buyer = |letter: &DeadLetter| {
            let (user, entry) = self.view.buyers.read(letter.place);
            self.view.buyer_of(user, &entry)
        };
        self.backlog
            .dead()
            .map(|(_, letter)| (buyer(letter), letter.reason.clone()))
            .collect()
    }

    /// All figures of the present state, durable or not.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let oldest = self.backlog.oldest();
        Figures {
            epoch: self.epoch,
            stock_left: self.left,
            accepted: self.units.accepted,
            queued: self.units.queued,
            dead: self.units.dead,
            queued_tickets: self.backlog.len() as u64,
            leased_tickets: self.backlog.leased() as u64,
            dead_tickets: self.backlog.dead_len() as u64,
            settled_up_to: self.settled_up_to(oldest.map(|(sequence, _)| sequence)),
            oldest_accepted_at: oldest.map(|(_, at)| at),
            applied_movement: self.applied_movement,
            next_sequence: self.next_sequence,
            revision: self.revision,
        }
    }
}
