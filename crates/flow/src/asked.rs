//! Pauses that operators have asked of this process until store and ledger have them, or their end: who asked, under which key, whether
//! the store has said that it holds the sale, and whether the ledger has it.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use seckill_ledger::Context;
use seckill_sale::{ActivityId, Hold};

/// The pauses, the last one of each sale.
#[derive(Default)]
pub(crate) struct Asked(Mutex<BTreeMap<ActivityId, Pause>>);

/// One of them.
#[derive(Clone)]
pub(crate) struct Pause {
    hold: Hold,
    /// None where nobody knows who asked: the store held the sale before this process began.
    context: Option<Context>,
    told: Told,
    /// The ledger has it, or a later word of the operator.
    is_in_ledger: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// The store is asked, or has said that it holds the sale: what it shows counts.
    Answered,
    /// The store has not answered; it may hold the sale now, or when its disk is back. This process lets nobody in meanwhile.
    Unanswered,
    /// It is over; a store that has not heard of that may hold the sale for a moment still.
    Ended,
}

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

    /// How the sale is held, where the store shows `held`.
    pub(crate) fn in_force(&self, id: ActivityId, held: Option<Hold>) -> Option<Hold> {
        let mut asked = self.0.lock();
        let Some(pause) = asked.get_mut(&id) else {
            return held;
        };
        if pause.told == Told::Unanswered && held == Some(pause.hold) {
            pause.told = Told::Answered;
        }
        match pause.told {
            Told::Answered => held,
            Told::Unanswered => Some(pause.hold),
            Told::Ended => None,
        }
    }

    /// The pause that is over and of which the store may not have heard so.
    pub(crate) fn ended(&self, id: ActivityId) -> Option<Hold> {
        let asked = self.0.lock();
        let ended = asked.get(&id).filter(|pause| pause.told == Told::Ended);
        ended.map(|pause| pause.hold)
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

impl Pause {
    const fn new(hold: Hold, context: Option<Context>, told: Told) -> Self {
        Self {
            hold,
            context,
            told,
            is_in_ledger: false,
        }
    }

    /// How the store was asked to hold the sale.
    pub(crate) const fn hold(&self) -> Hold {
        self.hold
    }
}

#[cfg(test)]
mod tests {
    use seckill_sale::EpochMs;

    use super::*;

    #[test]
    fn a_late_word_about_an_earlier_pause_changes_no_later_one() {
        let (asked, id) = (Asked::default(), ActivityId::new(1).unwrap());
        let hold = |at| Hold {
            held_at: EpochMs(at),
            resumes_at: None,
        };
        let context = Context {
            actor: "admin".to_owned(),
            now: EpochMs(0),
            idempotency: None,
        };
        let (first, second) = (hold(1), hold(2));
        let _ = asked.put(id, first, &context);
        let _ = asked.put(id, second, &context);
        assert_eq!(asked.in_force(id, None), None, "nobody has been answered");
        asked.set_unanswered(id, first, &context);
        assert_eq!(asked.in_force(id, None), Some(second));
        asked.set_in_ledger(id, first);
        asked.end(id, first);
        asked.forget(id, first);
        assert!(!asked.is_in_ledger(id, second));
        assert_eq!(asked.in_force(id, Some(first)), Some(second));
        assert_eq!(asked.in_force(id, Some(second)), Some(second));
        assert!(!asked.is_unanswered(id, second), "the store shows it");
    }
}
