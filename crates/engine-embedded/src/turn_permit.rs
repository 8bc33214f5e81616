//! The step of a turn that gives out a permit.

use seckill_sale::{EpochMs, NotReady};

use crate::Error;
use crate::codec::{Record, encode};
use crate::permits::Decided;
use crate::state::State;
use crate::turn::{Space, Turn};

impl Turn {
    /// What is refused needs no space; what is given out does not take that of results.
    pub(crate) fn permit(&mut self, key: [u8; 16], max: u32, until: EpochMs, state: &mut State) -> Result<bool, Error> {
        state.forget_permits(self.now);
        match state.permits().decide(key, max, until, self.now) {
            Decided::Refused => Ok(false),
            Decided::NoRoom => Err(Error::Unavailable),
            Decided::Given(_) if self.space != Space::Enough => Err(Error::NotReady(NotReady::StoreFull)),
            Decided::Given(permitted) => {
                let record = Record::Permitted(permitted);
                encode(&mut self.frame, &record);
                state.apply(&record);
                Ok(true)
            }
        }
    }
}
