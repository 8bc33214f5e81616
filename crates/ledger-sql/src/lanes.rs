//! Whose job is next: people pass batches, but do not starve them; and no sale has all connections.

use std::collections::{HashMap, VecDeque};

use seckill_sale::ActivityId;

/// Jobs of people in a row before a batch gets its turn.
const PEOPLE_IN_A_ROW_MAX: u32 = 16;

/// Work on a connection.
pub(crate) type Job<C> = Box<dyn FnOnce(&mut C) + Send>;

/// Who waits for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// A person: not behind a long row of batches.
    Person,
    /// A worker with a batch.
    Batch,
    /// A worker with a batch of one sale. A sale whose row is locked, or that is flooded, leaves a connection to others.
    Sale(ActivityId),
}

impl Lane {
    const fn sale(self) -> Option<ActivityId> {
        match self {
            Self::Person | Self::Batch => None,
            Self::Sale(sale) => Some(sale),
        }
    }
}

/// Jobs that wait, and whose turn it is.
pub(crate) struct Lanes<C> {
    people: VecDeque<Job<C>>,
    batches: VecDeque<(Lane, Job<C>)>,
    people_in_a_row: u32,
    /// Jobs of each sale that are being done.
    running: HashMap<ActivityId, usize>,
    /// As many of one sale as may be done at once, at least 1.
    of_a_sale_max: usize,
    /// Nothing is added any more.
    pub(crate) closed: bool,
}

impl<C> Lanes<C> {
    /// For so many connections.
    pub(crate) fn new(connections: usize) -> Self {
        let (people, batches) = (VecDeque::new(), VecDeque::new());
        Self {
            people,
            batches,
            people_in_a_row: 0,
            running: HashMap::new(),
            of_a_sale_max: connections.saturating_sub(1).max(1),
            closed: false,
        }
    }

    pub(crate) fn push(&mut self, lane: Lane, job: Job<C>) {
        match lane {
            Lane::Person => self.people.push_back(job),
            Lane::Batch | Lane::Sale(_) => self.batches.push_back((lane, job)),
        }
    }

    /// Whether nothing waits, not even for its sale's turn.
    pub(crate) fn is_empty(&self) -> bool {
        self.people.is_empty() && self.batches.is_empty()
    }

    /// Whether there is a next job.
    pub(crate) fn has_next(&self) -> bool {
        !self.people.is_empty() || self.next_batch().is_some()
    }

    /// The next job; [`Lanes::done`] is told when it is done.
    pub(crate) fn next(&mut self) -> Option<(Lane, Job<C>)> {
        let batch = self.next_batch();
        let batch_first = PEOPLE_IN_A_ROW_MAX <= self.people_in_a_row && batch.is_some();
        if !batch_first && let Some(job) = self.people.pop_front() {
            self.people_in_a_row += 1;
            return Some((Lane::Person, job));
        }
        self.people_in_a_row = 0;
        let (lane, job) = self.batches.remove(batch?)?;
        if let Some(sale) = lane.sale() {
            *self.running.entry(sale).or_default() += 1;
        }
        Some((lane, job))
    }

    /// The oldest batch whose sale may have one more connection.
    fn next_batch(&self) -> Option<usize> {
        let may = |lane: Lane| match lane.sale() {
            Some(sale) => self
                .running
                .get(&sale)
                .is_none_or(|&running| running < self.of_a_sale_max),
            None => true,
        };
        self.batches.iter().position(|&(lane, _)| may(lane))
    }

    /// A job is done: its sale may have the next.
    pub(crate) fn done(&mut self, lane: Lane) {
        if let Some(sale) = lane.sale()
            && let Some(running) = self.running.get_mut(&sale)
        {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&sale);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn job(_: &mut Connection) {}

    fn lanes(connections: usize, jobs: &[(Lane, usize)]) -> Lanes<Connection> {
        let mut lanes = Lanes::new(connections);
        for &(lane, count) in jobs {
            (0..count).for_each(|_| lanes.push(lane, Box::new(job)));
        }
        lanes
    }

    #[test]
    fn people_go_before_batches_but_do_not_starve_them() {
        let mut lanes = lanes(1, &[(Lane::Person, 40), (Lane::Batch, 2)]);
        let turns: Vec<Lane> = std::iter::from_fn(|| lanes.next()).map(|(lane, _)| lane).collect();
        let first_batch = turns.iter().position(|&lane| lane == Lane::Batch);
        assert_eq!(first_batch, Some(PEOPLE_IN_A_ROW_MAX as usize));
        assert_eq!(turns.len(), 42);
    }

    #[test]
    fn a_flooded_sale_leaves_a_connection_to_others() {
        let [flooded, other] = [1, 2].map(|id| Lane::Sale(ActivityId::new(id).unwrap()));
        let mut lanes = lanes(3, &[(flooded, 5), (other, 1)]);
        let mut next = || lanes.next().map(|(lane, _)| lane);
        assert_eq!([next(), next(), next()], [flooded, flooded, other].map(Some));
        assert_eq!(next(), None);
        lanes.done(flooded);
        assert!(!lanes.is_empty());
        assert_eq!(lanes.next().map(|(lane, _)| lane), Some(flooded));
        assert!(lanes.next().is_none());
    }

    #[test]
    fn a_sale_has_the_only_connection() {
        let sale = Lane::Sale(ActivityId::new(1).unwrap());
        let mut lanes = lanes(1, &[(sale, 1)]);
        assert_eq!(lanes.next().map(|(lane, _)| lane), Some(sale));
    }
}
