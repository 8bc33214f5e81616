//! The steps of a turn that build a sale's state, or build it anew.

use seckill_sale::{Event, NotReady, Restored};
use seckill_stock::{OpenOutcome, Opening, Rebase};

use crate::Error;
use crate::codec::Record;
use crate::journal::Journal;
use crate::state::State;
use crate::storage::Storage;
use crate::turn::{Space, Turn};

impl Turn {
    /// Builds a new state. It may be larger than a frame: the state is there once its last record, `Built`, is; until then the
    /// one that it replaces is.
    pub(crate) fn open<S: Storage>(
        &mut self,
        opening: Opening,
        state: &mut State,
        journal: &mut Journal<S>,
    ) -> Result<OpenOutcome, Error> {
        let activity = opening.opened.terms.activity;
        if let Some(sale) = state.sale(activity)
            && opening.replaces != Some(sale.epoch())
        {
            return Ok(OpenOutcome::Exists { epoch: sale.epoch() });
        }
        if self.space != Space::Enough {
            return Err(Error::NotReady(NotReady::StoreFull));
        }
        self.put(&Record::Event(activity, Event::Opened(opening.opened)), state);
        for buyer in opening.buyers {
            let bytes = Self::restored_bytes(&buyer);
            if self.frame_bytes_max < self.frame.len() + bytes && !self.commit(journal) {
                return Err(Error::OutcomeUnknown);
            }
            self.put(&Record::Event(activity, Event::Restored(Box::new(buyer))), state);
        }
        if self.frame_bytes_max < self.frame.len() + Self::SMALL_RECORD_BYTES && !self.commit(journal) {
            return Err(Error::OutcomeUnknown);
        }
        self.put(&Record::Built(activity), state);
        Ok(OpenOutcome::Created)
    }

    /// More than any record without texts takes.
    const SMALL_RECORD_BYTES: usize = 128;

    fn restored_bytes(buyer: &Restored) -> usize {
        Self::SMALL_RECORD_BYTES + 256 + buyer.dead_reason.len()
    }

    pub(crate) fn rebase(&mut self, rebase: Rebase, state: &mut State) -> Result<(), Error> {
        let Rebase {
            activity,
            epoch,
            left,
            applied_movement,
            may_rise,
            requeue,
        } = rebase;
        let present = state.sale(activity).map(|sale| sale.figures().stock_left);
        let left = present.filter(|_| !may_rise).map_or(left, |present| left.min(present));
        self.apply_known(
            activity,
            &Event::Rebased {
                epoch,
                left,
                applied_movement,
            },
            state,
        )?;
        for user in requeue {
            self.apply(activity, &Event::Requeued { user }, state);
        }
        Ok(())
    }
}
