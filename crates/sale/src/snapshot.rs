//! A sale's state as the shortest list of events that rebuilds it.

use crate::Sale;
use crate::event::{Event, Opened, Restored};

impl Sale {
    /// The shortest list of events that rebuilds this state, handed to `visit` one by one.
    pub fn snapshot(&self, mut visit: impl FnMut(Event)) {
        visit(Event::Opened(Opened {
            terms: self.terms,
            epoch: self.epoch,
            left: self.left,
            next_sequence: self.next_sequence,
            applied_movement: self.applied_movement,
        }));
        if let Some(hold) = self.held {
            visit(Event::Held(hold));
        }
        self.view.buyers.for_each(|_, user, entry| {
            let waiting = self.backlog.waiting(entry.sequence);
            let letter = self.backlog.dead_letter(entry.sequence);
            visit(Event::Restored(Box::new(Restored {
                user,
                key: entry.key,
                quantity: entry.quantity,
                sequence: entry.sequence,
                epoch: entry.epoch,
                accepted_at: entry.accepted_at,
                state: entry.state(),
                attempts: waiting.map_or(0, |waiting| waiting.attempts),
                request_id: waiting
                    .map(|w| &w.request_id)
                    .or(letter.map(|l| &l.request_id))
                    .cloned(),
                dead_reason: letter.map_or_else(String::new, |letter| letter.reason.clone()),
            })));
        });
    }
}
