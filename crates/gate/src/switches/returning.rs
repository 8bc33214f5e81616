//! Switches that go back by themselves: what to, and when. Each node sees to it by the store's time; nobody has to tell it.

use seckill_sale::EpochMs;
use serde::{Deserialize, Serialize};

use super::{Members, Switches};

/// What goes back at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Return {
    /// The store's time.
    pub at: EpochMs,
    /// What to.
    pub members: Members,
}

impl Switches {
    /// Whether something has gone back at `now` that is not in these values yet.
    #[must_use]
    pub fn is_due(&self, now: EpochMs) -> bool {
        self.returns.first().is_some_and(|due| due.at <= now)
    }

    /// What holds at `now`; the revision stays.
    #[must_use]
    pub fn at(&self, now: EpochMs) -> Self {
        let mut switches = self.clone();
        for due in self.returns.iter().filter(|due| due.at <= now) {
            due.members.put_into(&mut switches);
        }
        switches.returns.retain(|due| now < due.at);
        switches
    }

    /// All that goes back, whenever it does.
    pub(super) fn pending(&self) -> Members {
        let none = Members::default();
        self.returns.iter().fold(none, |all, due| all.or(&due.members))
    }

    /// Changes what goes back; a return of nothing is none.
    pub(super) fn keep_returns(&mut self, keep: impl Fn(&Members) -> Members) {
        for due in &mut self.returns {
            due.members = keep(&due.members);
        }
        self.returns.retain(|due| !due.members.is_empty());
    }

    /// These switches with what is named as it is there; what goes back stays.
    #[must_use]
    pub fn with(&self, members: &Members) -> Self {
        let mut switches = self.clone();
        members.put_into(&mut switches);
        switches
    }

    /// These switches with the returns of others for what `named` names, and their own for the rest.
    #[must_use]
    pub fn with_returns_of(mut self, others: &Self, named: &Members) -> Self {
        self.keep_returns(|members| members.without(named));
        let mut theirs = others.clone();
        theirs.keep_returns(|members| members.only(named));
        self.returns.append(&mut theirs.returns);
        self.returns.sort_by_key(|due| due.at);
        self
    }
}
