//! Pauses that operators have asked of this process until the ledger has them: who asked, under which key, and whether the store has said
//! that it holds the sale.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use seckill_ledger::Context;
use seckill_sale::{ActivityId, Hold};

/// The pauses, the last one of each sale.
#[derive(Default)]
pub(crate) struct Asked(Mutex<BTreeMap<ActivityId, Pause>>);

struct Pause {
    hold: Hold,
    context: Context,
    /// The store has been told and has not said that it knows.
    is_unconfirmed: bool,
}

impl Asked {
    /// An operator asks.
    pub(crate) fn put(&self, id: ActivityId, hold: Hold, context: &Context) {
        let pause = Pause {
            hold,
            context: context.clone(),
            is_unconfirmed: false,
        };
        self.0.lock().insert(id, pause);
    }

    /// The store has not answered; it may hold the sale now, or when its disk is back.
    pub(crate) fn set_unconfirmed(&self, id: ActivityId, hold: Hold) {
        if let Some(pause) = self.0.lock().get_mut(&id).filter(|pause| pause.hold == hold) {
            pause.is_unconfirmed = true;
        }
    }

    /// The store says how it holds the sale.
    pub(crate) fn confirm(&self, id: ActivityId) {
        if let Some(pause) = self.0.lock().get_mut(&id) {
            pause.is_unconfirmed = false;
        }
    }

    /// The hold of which the store has not said that it knows.
    pub(crate) fn unconfirmed(&self, id: ActivityId) -> Option<Hold> {
        let asked = self.0.lock();
        asked
            .get(&id)
            .filter(|pause| pause.is_unconfirmed)
            .map(|pause| pause.hold)
    }

    /// Who asked for this hold.
    pub(crate) fn context(&self, id: ActivityId, hold: Hold) -> Option<Context> {
        let asked = self.0.lock();
        asked
            .get(&id)
            .filter(|pause| pause.hold == hold)
            .map(|pause| pause.context.clone())
    }

    /// It is done with, one way or the other.
    pub(crate) fn forget(&self, id: ActivityId) {
        self.0.lock().remove(&id);
    }
}
