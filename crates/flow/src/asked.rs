//! Pauses of sales until store and ledger have them, or their end: those that operators have asked of this process (who asked, under which
//! key, whether the store has said that it holds the sale, and whether the ledger has it), and those that the store was seen to hold.
//!
//! ```text
//! asked ──the store shows it──▶ seen ──shown no more, in the same state──▶ over: shown by an earlier state, it does not come back
//!   └─ not answered ─▶ in force here ◀──shown no more, in a later state: lost, unless the ledger knows better
//! ```

mod pause;

use std::collections::BTreeMap;

use parking_lot::Mutex;
use seckill_ledger::Context;
use seckill_sale::{ActivityId, Hold};
use seckill_stock::Standing;

pub(crate) use pause::Pause;
use pause::Told;

/// The pauses, the last one of each sale.
#[derive(Default)]
pub(crate) struct Asked(Mutex<BTreeMap<ActivityId, Pause>>);

impl Asked {
    /// An operator asks. Gives what stood here before; where the store had not answered that, this one is in force at once.
    pub(crate) fn put(&self, id: ActivityId, hold: Hold, context: &Context) -> Option<Pause> {
        let mut asked = self.0.lock();
        let is_unanswered = asked.get(&id).is_some_and(|pause| pause.told == Told::Unanswered);
        let told = if is_unanswered {
            Told::Unanswered
        } else {
            Told::Answered
        };
        asked.insert(id, Pause::new(hold, Some(context.clone()), told))
    }

    /// What stood here before this one, which nobody has got.
    pub(crate) fn put_back(&self, id: ActivityId, hold: Hold, earlier: Option<Pause>) {
        let mut asked = self.0.lock();
        if asked.get(&id).is_some_and(|pause| pause.hold == hold) {
            match earlier {
                Some(earlier) => asked.insert(id, earlier),
                None => asked.remove(&id),
            };
        }
    }

    /// The store has not answered. A pause that was asked for behind this one is not answered either, unless the store shows it.
    pub(crate) fn set_unanswered(&self, id: ActivityId, hold: Hold, context: &Context) {
        let mut asked = self.0.lock();
        match asked.get_mut(&id).filter(|pause| pause.hold != hold) {
            Some(later) if later.told == Told::Answered => later.told = Told::Unanswered,
            Some(_) => {}
            None => _ = asked.insert(id, Pause::new(hold, Some(context.clone()), Told::Unanswered)),
        }
    }

    /// The ledger has it, or knows better.
    pub(crate) fn set_in_ledger(&self, id: ActivityId, hold: Hold) {
        let mut asked = self.0.lock();
        let pause = asked
            .entry(id)
            .or_insert_with(|| Pause::new(hold, None, Told::Answered));
        pause.is_in_ledger |= pause.hold == hold;
    }

    /// It is over, whatever the store shows until it has heard so. A pause that was asked for behind it stands.
    pub(crate) fn end(&self, id: ActivityId, hold: Hold) {
        let mut asked = self.0.lock();
        if asked.get(&id).is_none_or(|pause| pause.hold == hold) {
            asked.insert(id, Pause::new(hold, None, Told::Ended));
        }
    }

    /// How the sale is held, where the store shows `shown`; takes up what that tells.
    pub(crate) fn in_force(&self, id: ActivityId, shown: Option<Standing>) -> Option<Hold> {
        let mut asked = self.0.lock();
        if let Some(state) = shown
            && let Some(hold) = state.hold
            && asked.get(&id).is_none_or(|pause| pause.gives_way_to(hold))
        {
            asked.insert(id, Pause::seen(hold, state.epoch));
        }
        let pause = asked.get_mut(&id)?;
        if pause.look(shown) {
            tracing::error!(activity = %id, "the store has lost a pause that the ledger may not have; it is told again");
        }
        pause.in_force(shown)
    }

    /// The pause that is over and of which the store has not heard so, or which an earlier state of it shows.
    pub(crate) fn ended(&self, id: ActivityId, shown: Option<Hold>) -> Option<Hold> {
        let asked = self.0.lock();
        let is_ended =
            |pause: &&Pause| pause.told == Told::Ended || pause.told == Told::Over && shown == Some(pause.hold);
        asked.get(&id).filter(is_ended).map(Pause::hold)
    }

    /// Store and ledger have its end: a state of the store that shows it is an earlier one.
    pub(crate) fn set_over(&self, id: ActivityId, hold: Hold) {
        let mut asked = self.0.lock();
        if asked.get(&id).is_none_or(|pause| pause.hold == hold) {
            asked.insert(id, Pause::new(hold, None, Told::Over));
        }
    }

    /// Forgets pauses that are over, of sales that are not `listed`.
    pub(crate) fn retain(&self, listed: impl Fn(ActivityId) -> bool) {
        self.0
            .lock()
            .retain(|id, pause| pause.told != Told::Over || listed(*id));
    }

    /// Pauses that neither store nor ledger may have.
    pub(crate) fn unanswered(&self) -> Vec<ActivityId> {
        let asked = self.0.lock();
        let unanswered = asked.iter().filter(|(_, pause)| pause.told == Told::Unanswered);
        unanswered.map(|(id, _)| *id).collect()
    }

    /// Whether the store has not said that it holds the sale so.
    pub(crate) fn is_unanswered(&self, id: ActivityId, hold: Hold) -> bool {
        self.is(id, |pause| pause.hold == hold && pause.told == Told::Unanswered)
    }

    /// Whether the ledger has this hold, or a later word.
    pub(crate) fn is_in_ledger(&self, id: ActivityId, hold: Hold) -> bool {
        self.is(id, |pause| pause.hold == hold && pause.is_in_ledger)
    }

    /// Whether nobody has asked for another one since.
    pub(crate) fn is_last(&self, id: ActivityId, hold: Hold) -> bool {
        self.is(id, |pause| pause.hold == hold)
    }

    fn is(&self, id: ActivityId, what: impl FnOnce(&Pause) -> bool) -> bool {
        self.0.lock().get(&id).is_some_and(what)
    }

    /// Who asked for this hold.
    pub(crate) fn context(&self, id: ActivityId, hold: Hold) -> Option<Context> {
        let asked = self.0.lock();
        let pause = asked.get(&id).filter(|pause| pause.hold == hold)?;
        pause.context.clone()
    }

    /// This one is done with, one way or the other.
    pub(crate) fn forget(&self, id: ActivityId, hold: Hold) {
        self.put_back(id, hold, None);
    }
}

#[cfg(test)]
mod tests;
