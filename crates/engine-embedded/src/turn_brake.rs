//! The steps of a turn that hold a sale or keep switches for the ledger.

use seckill_sale::{ActivityId, Event, Hold, NotReady, Sale};

use crate::Error;
use crate::codec::{Record, encode};
use crate::state::State;
use crate::turn::{Space, Turn};

impl Turn {
    pub(crate) fn hold(&mut self, activity: ActivityId, hold: Hold, state: &mut State) -> Result<(), Error> {
        if state.sale(activity).and_then(Sale::held) == Some(hold) {
            return Ok(());
        }
        self.apply_known(activity, &Event::Held(hold), state)
    }

    /// A sale that is held otherwise, or not at all, is left as it is.
    pub(crate) fn release(&mut self, activity: ActivityId, hold: Hold, state: &mut State) {
        if state.sale(activity).and_then(Sale::held) == Some(hold) {
            self.apply(activity, &Event::Released, state);
        }
    }

    /// What is kept already needs no space, and what somebody else has had kept meanwhile stays.
    pub(crate) fn keep_switches(
        &mut self,
        instead_of: &str,
        switches: String,
        state: &mut State,
    ) -> Result<Option<String>, Error> {
        let kept = state.switches();
        if kept == switches || kept != instead_of {
            return Ok(state.kept_switches());
        }
        if self.space == Space::Full {
            return Err(Error::NotReady(NotReady::StoreFull));
        }
        let record = Record::Switched(switches);
        encode(&mut self.frame, &record);
        state.apply(&record);
        Ok(state.kept_switches())
    }
}
