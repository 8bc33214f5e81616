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
mod tests {
    use std::collections::BTreeMap;

    use seckill_sale::{Claim, EpochMs};
    use tokio::sync::oneshot;

    use super::*;
    use crate::conformance::Fixture;

    /// So many claims of each sale, who came one after another.
    fn queues(counts: &[(u64, usize)]) -> Queues {
        let mut queues = Queues::default();
        let mut now = 0;
        for &(activity, count) in counts {
            for _ in 0..count {
                now += 1;
                let claim = Claim {
                    activity: ActivityId::new(activity).expect("in range"),
                    ..Fixture::claim(&format!("u{now}"), 1, 1)
                };
                let (reply, _) = oneshot::channel();
                let since = EpochMs(now);
                queues.push(Waiting { claim, since, reply });
            }
        }
        queues
    }

    /// How many of each sale are in the next batch of this size.
    fn batch(queues: &mut Queues, size: usize) -> Vec<(u64, usize)> {
        let (before, mut last) = (queues.len(), BTreeMap::new());
        let parts = queues.leave(size, |waiting| {
            let before = last.insert(waiting.claim.activity, waiting.since);
            assert!(before < Some(waiting.since), "in their order");
        });
        let mut parts: Vec<_> = parts
            .into_iter()
            .filter(|(_, part)| *part != 0)
            .map(|(activity, part)| (activity.get(), part))
            .collect();
        parts.sort_unstable();
        assert_eq!(queues.len() + parts.iter().map(|(_, part)| part).sum::<usize>(), before);
        parts
    }

    #[test]
    fn a_batch_has_an_equal_part_of_each_sale_and_what_one_does_not_need_goes_to_the_others() {
        let mut queues = queues(&[(1, 100), (2, 3), (3, 20)]);
        assert_eq!(batch(&mut queues, 30), [(1, 13), (2, 3), (3, 14)]);
        assert_eq!(batch(&mut queues, 30), [(1, 24), (3, 6)]);
        assert_eq!(batch(&mut queues, 30), [(1, 30)]);
        assert_eq!(batch(&mut queues, 300), [(1, 33)]);
        assert_eq!(batch(&mut queues, 300), []);
    }

    #[test]
    fn where_sales_are_more_than_a_batch_carries_those_that_wait_longest_are_in_it() {
        let mut queues = queues(&[(5, 2), (1, 1), (2, 4)]);
        assert_eq!(batch(&mut queues, 2), [(1, 1), (5, 1)]);
        assert_eq!(batch(&mut queues, 1), [(5, 1)]);
    }

    #[test]
    fn the_oldest_and_the_newest_leave_from_the_sale_that_has_most() {
        let mut queues = queues(&[(2, 1), (1, 3)]);
        let since = |waiting: Option<Waiting>| waiting.map(|waiting| waiting.since.0);
        let of_other = queues.oldest_leaves_if(|oldest| oldest.since == EpochMs(1));
        assert_eq!(since(of_other), None);
        assert_eq!(since(queues.oldest_leaves_if(|_| true)), Some(2));
        let first = ActivityId::new(1).expect("in range");
        assert_eq!(since(queues.newest_leaves(first)), Some(4));
        assert_eq!(queues.shares().map(|(_, share)| share).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(queues.oldest().map(|oldest| oldest.since.0), Some(1));
        assert_eq!(queues.empty().len(), 2);
        assert!(queues.is_empty() && queues.oldest().is_none());
    }

    #[test]
    fn who_was_there_at_the_last_look_is_overdue_at_the_next() {
        let mut queues = queues(&[(1, 3), (2, 2)]);
        assert_eq!(queues.overdue().len(), 0);
        assert_eq!(batch(&mut queues, 2), [(1, 1), (2, 1)]);
        for waiting in self::queues(&[(1, 1), (3, 1)]).empty() {
            queues.push(waiting);
        }
        assert_eq!(queues.overdue().len(), 3, "those of before that are left");
        assert_eq!(queues.len(), 2);
        assert_eq!(queues.overdue().len(), 2);
    }
}
