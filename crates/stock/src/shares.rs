//! How many places of a core each sale has.

use seckill_sale::ActivityId;

/// Those that have any; looked through one by one, since they are few.
pub(crate) struct Shares {
    each: Vec<(ActivityId, usize)>,
    sum: usize,
}

impl Shares {
    pub(crate) const fn new() -> Self {
        Self {
            each: Vec::new(),
            sum: 0,
        }
    }

    /// Places that are taken.
    pub(crate) const fn sum(&self) -> usize {
        self.sum
    }

    pub(crate) fn of(&self, activity: ActivityId) -> usize {
        let found = self.each.iter().find(|(known, _)| *known == activity);
        found.map_or(0, |(_, share)| *share)
    }

    /// Who has the most, and how many.
    pub(crate) fn largest(&self) -> Option<(ActivityId, usize)> {
        self.each.iter().max_by_key(|(_, share)| *share).copied()
    }

    pub(crate) fn take(&mut self, activity: ActivityId) {
        self.sum += 1;
        match self.each.iter_mut().find(|(known, _)| *known == activity) {
            Some((_, share)) => *share += 1,
            None => self.each.push((activity, 1)),
        }
    }

    pub(crate) fn give_back(&mut self, activity: ActivityId) {
        self.sum -= 1;
        let at = self.each.iter().position(|(known, _)| *known == activity);
        let at = at.expect("whoever has a place is counted");
        self.each[at].1 -= 1;
        if self.each[at].1 == 0 {
            self.each.swap_remove(at);
        }
    }
}
