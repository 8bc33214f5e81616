//! Facts about who leaves a line.

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
