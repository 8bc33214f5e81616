//! Who waits in a line: each sale in its own order. A batch has an equal part of each, so a sale that many come to keeps no other waiting.

use std::collections::VecDeque;

use seckill_sale::ActivityId;

use crate::line::Waiting;

/// Queues of sales of which nobody waits that are kept, so that the next who comes finds one with its space.
const EMPTY_KEPT: usize = 8;

struct Queue {
    activity: ActivityId,
    waiting: VecDeque<Waiting>,
    /// How many of them, from the front, were there at the last look of [`Queues::overdue`].
    marked: usize,
}

impl Queue {
    /// The first `size` claims leave.
    fn leave(&mut self, size: usize) -> impl Iterator<Item = Waiting> {
        self.marked = self.marked.saturating_sub(size);
        self.waiting.drain(..size)
    }
}

/// The queues of one line; looked through one by one, since they are few.
#[derive(Default)]
pub(crate) struct Queues {
    each: Vec<Queue>,
    sum: usize,
}

impl Queues {
    /// Claims that wait.
    pub(crate) const fn len(&self) -> usize {
        self.sum
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.sum == 0
    }

    /// How many places each sale has that has any.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (ActivityId, usize)> {
        let shares = self.each.iter().map(|queue| (queue.activity, queue.waiting.len()));
        shares.filter(|(_, share)| *share != 0)
    }

    pub(crate) fn push(&mut self, waiting: Waiting) {
        let activity = waiting.claim.activity;
        self.sum += 1;
        if let Some(queue) = self.each.iter_mut().find(|queue| queue.activity == activity) {
            return queue.waiting.push_back(waiting);
        }
        if EMPTY_KEPT <= self.each.len() {
            self.each.retain(|queue| !queue.waiting.is_empty());
        }
        self.each.push(Queue {
            activity,
            waiting: VecDeque::from([waiting]),
            marked: 0,
        });
    }

    /// The claim that has waited longest.
    pub(crate) fn oldest(&self) -> Option<&Waiting> {
        let fronts = self.each.iter().filter_map(|queue| queue.waiting.front());
        fronts.min_by_key(|front| front.since)
    }

    /// Of the sale that has most claims here, the one that has waited longest leaves, where it is one of those. A sale with fewer pays for
    /// nobody.
    pub(crate) fn oldest_leaves_if(&mut self, is_one: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
        let longest = self.each.iter_mut().max_by_key(|queue| queue.waiting.len())?;
        longest.waiting.front().filter(|oldest| is_one(oldest))?;
        let left = longest.leave(1).next();
        self.sum -= 1;
        left
    }

    /// The claim of a sale that came last leaves.
    pub(crate) fn newest_leaves(&mut self, activity: ActivityId) -> Option<Waiting> {
        let queue = self.each.iter_mut().find(|queue| queue.activity == activity)?;
        let left = queue.waiting.pop_back()?;
        queue.marked = queue.marked.min(queue.waiting.len());
        self.sum -= 1;
        Some(left)
    }

    /// At most `size` claims leave: of each sale as many, where it has so many; the oldest of each first. Gives how many of which sale.
    pub(crate) fn leave(&mut self, size: usize, mut each: impl FnMut(Waiting)) -> Vec<(ActivityId, usize)> {
        let mut queues: Vec<_> = self.each.iter_mut().filter(|queue| !queue.waiting.is_empty()).collect();
        // Whoever has less than an equal part leaves the rest of it to those after him.
        if queues.len() <= size {
            queues.sort_unstable_by_key(|queue| queue.waiting.len());
        } else {
            queues.sort_unstable_by_key(|queue| queue.waiting.front().map(|front| front.since));
        }
        let (count, mut left) = (queues.len(), size);
        let part_of = |(nth, queue): (usize, &mut Queue)| {
            let part = left.div_ceil(count - nth).min(queue.waiting.len());
            left -= part;
            queue.leave(part).for_each(&mut each);
            (queue.activity, part)
        };
        let parts = queues.into_iter().enumerate().map(part_of).collect();
        self.sum -= size - left;
        parts
    }

    /// All of them leave.
    pub(crate) fn empty(&mut self) -> Vec<Waiting> {
        self.sum = 0;
        self.each.drain(..).flat_map(|queue| queue.waiting).collect()
    }

    /// Who was there already when this was asked last leaves.
    pub(crate) fn overdue(&mut self) -> Vec<Waiting> {
        let mut overdue = Vec::new();
        for queue in &mut self.each {
            overdue.extend(queue.waiting.drain(..queue.marked));
            queue.marked = queue.waiting.len();
        }
        self.sum -= overdue.len();
        overdue
    }
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
