//! When a state whose healing failed is tried again.
//!
//! Each try may draw an epoch and leave a row in the operators' log, so one that fails is followed by growing waits. It is tried at once
//! where the state is another one than at the last try; and where the last one cost nothing, at every tick: the store was full or could not
//! be written, or nobody answered.

use std::collections::HashMap;

use seckill_ledger::Error as Ledger;
use seckill_sale::{Activity, ActivityId, Epoch, EpochMs, NotReady};
use seckill_stock::{Condition, Error as Stock};

use crate::Error;

/// Wait after the first failed try, in milliseconds; it doubles with each further one.
const WAIT_FIRST_MS: i64 = 1_000;
/// Longest wait between tries, in milliseconds.
const WAIT_MS_MAX: i64 = 30_000;

/// Tries that failed, of all sales whose states can't be used.
#[derive(Default)]
pub(super) struct Trials(HashMap<ActivityId, Trial>);

/// The last try.
struct Trial {
    /// What was to be healed; none where it could not be looked at since.
    harm: Option<Harm>,
    /// The ledger's epoch before it.
    epoch: Option<Epoch>,
    at: EpochMs,
    wait_ms: i64,
    /// Whether it was refused before anything was written, unless the epoch tells otherwise.
    is_free: bool,
    cause: String,
}

/// What is the matter with a state, as far as another try may come out differently for it. Its figures don't count: where only a part of a
/// sale is doubtful, the others go on selling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harm {
    Absent,
    Doubtful { epoch: Epoch },
    Broken,
    Behind { epoch: Option<Epoch> },
    InHand,
    Another { epoch: Epoch },
}

impl From<&Condition> for Harm {
    fn from(condition: &Condition) -> Self {
        match condition {
            Condition::Absent { .. } => Self::Absent,
            Condition::Doubtful(figures) => Self::Doubtful { epoch: figures.epoch },
            Condition::Broken => Self::Broken,
            Condition::Sound { epoch } => Self::Behind { epoch: *epoch },
            Condition::InHand => Self::InHand,
            Condition::Another { epoch } => Self::Another { epoch: *epoch },
        }
    }
}

impl Trial {
    fn was_free(&self, activity: &Activity) -> bool {
        self.is_free && self.epoch == activity.epoch
    }
}

impl Trials {
    /// Whether a state in this condition is to be healed at `now`.
    pub(super) fn is_due(&self, activity: &Activity, condition: &Condition, now: EpochMs) -> bool {
        let is_sound = match condition {
            Condition::InHand => true,
            // One behind the ledger's epoch is raised, and the ledger is raised past one that is ahead of it.
            Condition::Sound { epoch } => epoch.is_none() || activity.epoch == *epoch,
            Condition::Absent { .. } | Condition::Doubtful(_) | Condition::Broken | Condition::Another { .. } => false,
        };
        if is_sound {
            return true;
        }
        let Some(trial) = self.0.get(&activity.id) else {
            return true;
        };
        let is_over = trial.at.plus(trial.wait_ms) <= now || now < trial.at;
        trial.was_free(activity) || is_over || trial.harm != Some(condition.into())
    }

    /// Notes a try that failed; whether its cause is news. `condition`: none where the state could not even be looked at.
    pub(super) fn failed(
        &mut self,
        activity: &Activity,
        condition: Option<&Condition>,
        error: &Error,
        now: EpochMs,
    ) -> bool {
        let cause = error.to_string();
        let before = self.0.get(&activity.id);
        let is_news = before.is_none_or(|before| before.cause != cause);
        let wait_ms = match before {
            None => WAIT_FIRST_MS,
            // No try, or one that cost nothing: those that did still count.
            Some(before) if condition.is_none() || before.was_free(activity) => before.wait_ms,
            Some(before) => before.wait_ms.saturating_mul(2).min(WAIT_MS_MAX),
        };
        let trial = Trial {
            harm: condition.map(Harm::from),
            epoch: activity.epoch,
            at: now,
            wait_ms,
            is_free: is_free(error),
            cause,
        };
        self.0.insert(activity.id, trial);
        is_news
    }

    /// Why the last try failed.
    pub(super) fn cause(&self, id: ActivityId) -> Option<&str> {
        self.0.get(&id).map(|trial| trial.cause.as_str())
    }

    /// Forgets a sale that needs no healing any more; whether it did.
    pub(super) fn are_over(&mut self, id: ActivityId) -> bool {
        self.0.remove(&id).is_some()
    }

    pub(super) fn retain(&mut self, is_there: impl Fn(&ActivityId) -> bool) {
        self.0.retain(|id, _| is_there(id));
    }
}

/// Whether an error says that nothing was begun and that it mends by itself: asking again at once costs nobody anything.
const fn is_free(error: &Error) -> bool {
    matches!(
        error,
        Error::Ledger(Ledger::Outage(_))
            | Error::Stock(Stock::Unavailable | Stock::NotReady(NotReady::StoreFull | NotReady::StoreReadOnly))
    )
}

#[cfg(test)]
mod tests {
    use seckill_sale::Figures;

    use super::*;

    #[test]
    fn a_part_that_goes_on_selling_is_no_news_of_the_one_that_is_doubtful() {
        let doubtful = |figures: Figures| Condition::Doubtful(Box::new(figures));
        let harm = |condition: &Condition| Harm::from(condition);
        let first = Figures {
            epoch: Epoch::FIRST,
            stock_left: 5,
            accepted: 0,
            queued: 0,
            dead: 0,
            queued_tickets: 0,
            leased_tickets: 0,
            settled_up_to: 0,
            dead_tickets: 0,
            oldest_accepted_at: None,
            applied_movement: 0,
            next_sequence: 1,
            revision: 0,
        };
        let sold = Figures {
            accepted: 1,
            revision: 1,
            ..first
        };
        let later = Figures {
            epoch: Epoch::new(2).unwrap(),
            ..first
        };
        assert_eq!(harm(&doubtful(first)), harm(&doubtful(sold)));
        assert_ne!(harm(&doubtful(first)), harm(&doubtful(later)));
        assert_ne!(harm(&doubtful(first)), harm(&Condition::Broken));
    }
}
