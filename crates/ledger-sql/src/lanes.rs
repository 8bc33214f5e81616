//! Whose job is next: people pass batches, but do not starve them.

use std::collections::VecDeque;

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
}

/// Jobs that wait, and whose turn it is.
pub(crate) struct Lanes<C> {
    pub(crate) people: VecDeque<Job<C>>,
    pub(crate) batches: VecDeque<Job<C>>,
    people_in_a_row: u32,
    /// Nothing is added any more.
    pub(crate) closed: bool,
}

impl<C> Lanes<C> {
    pub(crate) fn new() -> Self {
        let (people, batches) = (VecDeque::new(), VecDeque::new());
        Self {
            people,
            batches,
            people_in_a_row: 0,
            closed: false,
        }
    }

    pub(crate) fn next(&mut self) -> Option<Job<C>> {
        let batch_first = PEOPLE_IN_A_ROW_MAX <= self.people_in_a_row && !self.batches.is_empty();
        if !batch_first && let Some(job) = self.people.pop_front() {
            self.people_in_a_row += 1;
            return Some(job);
        }
        self.people_in_a_row = 0;
        self.batches.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn job(_: &mut Connection) {}

    fn lanes(people: usize, batches: usize) -> Lanes<Connection> {
        let mut lanes = Lanes::new();
        lanes.people.extend((0..people).map(|_| Box::new(job) as Job<_>));
        lanes.batches.extend((0..batches).map(|_| Box::new(job) as Job<_>));
        lanes
    }

    #[test]
    fn people_go_before_batches_but_do_not_starve_them() {
        let mut lanes = lanes(40, 2);
        let mut turns = Vec::new();
        while let Some(_job) = lanes.next() {
            turns.push(lanes.batches.len());
        }
        let first_batch = turns.iter().position(|&left| left == 1);
        assert_eq!(first_batch, Some(PEOPLE_IN_A_ROW_MAX as usize));
        assert_eq!(turns.len(), 42);
    }
}
