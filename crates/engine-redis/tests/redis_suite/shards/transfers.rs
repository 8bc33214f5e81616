//! Units on their way from shard to shard.

use seckill_queue::Queue;
use seckill_sale::{Conclusion, FailureReason, Refusal, UnitTo};
use seckill_stock::Stock;
use seckill_stock::conformance::Fixture;

use super::{claims, counted, open_split, sold, users};
use crate::support::Running;

#[test]
fn units_on_their_way_are_left_and_are_sold_by_whoever_finds_them() {
    let running = Running::start(None);
    open_split(&running, 8, 4);
    // As a node leaves it that dies behind a debit of two units from shard 0 to shard 3.
    let meta = "{a:7:0}:meta";
    let debited = [
        "HSET",
        meta,
        "left",
        "0",
        "out",
        "1 3 2",
        "transfers",
        "1",
        "revision",
        "100",
    ];
    running.owner(meta).command(&debited).expect("answers");
    let late = running.another("late");
    let buyers = users(9, 4, &[2]);
    let answers = running.block_on(late.claim(claims(&buyers)));
    assert_eq!(sold(&answers), 8, "{answers:?}");
    assert_eq!(
        answers
            .iter()
            .filter(|answer| **answer == Err(Refusal::SoldOut))
            .count(),
        1
    );
    assert_eq!(running.block_on(counted(&running.engine)), (0, 8, 8));
}

#[test]
fn a_movement_is_applied_once_wherever_its_units_are() {
    let running = Running::start(None);
    let activity = open_split(&running, 8, 4);
    let node = running.another("node");
    running.block_on(async {
        // (movement, delta, what is left then)
        for (movement, delta, left) in [
            (3, -5, 3),
            (3, -5, 3),
            (6, 40, 43),
            (6, 40, 43),
            (4, 9, 43),
            (9, -40, 3),
            (10, -5, 0),
        ] {
            node.apply_movement(activity, movement, delta).await.expect("done");
            assert_eq!(counted(&running.engine).await.0, left, "after {movement}");
        }
        let figures = node.figures(activity).await.expect("answers").expect("a state");
        assert_eq!(figures.applied_movement, 10);
    });
}

#[test]
fn tickets_of_all_shards_are_taken_settled_and_give_their_units_back() {
    let running = Running::start(None);
    open_split(&running, 40, 4);
    let buyers = users(40, 4, &[0, 1, 2, 3]);
    let worker = running.another("worker");
    running.block_on(async {
        assert_eq!(sold(&running.engine.claim(claims(&buyers)).await), 40);
        let taken = worker.take(100).await.expect("answers");
        assert_eq!(taken.len(), 40, "one batch, from all shards");
        let failed = Conclusion::Failed {
            reason: FailureReason::Discarded,
            unit_to: Some(UnitTo::Sale),
        };
        let verdict = |n: usize| if n < 10 { failed } else { Conclusion::Succeeded };
        let tickets = (0..).zip(&taken).map(|(n, delivery)| {
            let verdict = seckill_queue::Verdict::Conclude(verdict(n));
            (delivery.ticket, verdict)
        });
        let verdicts = seckill_queue::Verdicts {
            tickets: tickets.collect(),
            settled_batch: 1,
        };
        for _ in 0..2 {
            worker.record(verdicts.clone()).await.expect("recorded");
        }
        assert_eq!(counted(&running.engine).await, (10, 40, 0));
        let (mut pages, mut seen) = (0, 0);
        while let Some(page) = worker.buyers_page(Fixture::activity(), pages).await.expect("answers") {
            seen += page.len();
            pages += 1;
        }
        assert_eq!((pages, seen), (4, 40));
    });
}

#[test]
fn nobody_is_told_sold_out_while_the_last_unit_is_on_its_way() {
    let running = Running::start(None);
    open_split(&running, 1, 4);
    let debited = [
        "HSET",
        "{a:7:0}:meta",
        "left",
        "0",
        "out",
        "1 3 1",
        "transfers",
        "1",
        "revision",
        "100",
    ];
    running.redis.command(&debited).expect("answers");
    let late = running.another("late");
    let answers = running.block_on(late.claim(claims(&users(1, 4, &[2]))));
    assert_eq!(sold(&answers), 1, "{answers:?}");
    assert_eq!(running.block_on(counted(&late)), (0, 1, 1));
}
