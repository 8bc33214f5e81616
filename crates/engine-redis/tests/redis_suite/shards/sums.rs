//! What is told of a sale as a whole: figures and places in line; and what changes all of it.

use seckill_engine_redis::Engine;
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{Conclusion, Epoch, Shards, Status, Terms, Ticket, UserId};
use seckill_stock::{Rebase, Stock};

use super::{claims, counted, open_split, sold, split, users};
use crate::support::Running;

const ALL: [u64; 4] = [0, 1, 2, 3];

/// Tickets before each one that waits, as the flow counts them.
fn ahead(node: &Engine, ticket: Ticket) -> u64 {
    let settled = node.settled_up_to(ticket).expect("a state");
    ticket.sequence.saturating_sub(1).saturating_sub(settled)
}

#[test]
fn nobody_falls_back_in_line_and_the_first_of_a_shard_has_nobody_before_him() {
    let running = Running::start(None);
    open_split(&running, 100, 4);
    let buyers = users(60, 4, &ALL);
    running.block_on(async {
        let mut waiting: Vec<Ticket> = Vec::new();
        for part in buyers.chunks(20) {
            let answers = running.engine.claim(claims(part)).await;
            waiting.extend(answers.iter().flatten().map(|reserved| reserved.ticket));
        }
        let mut before: Vec<u64> = waiting.iter().map(|&ticket| ahead(&running.engine, ticket)).collect();
        loop {
            let taken = running.engine.take(7).await.expect("answers");
            if taken.is_empty() {
                break;
            }
            let tickets = taken
                .iter()
                .map(|delivery| (delivery.ticket, Verdict::Conclude(Conclusion::Succeeded)));
            let verdicts = Verdicts {
                tickets: tickets.collect(),
                settled_batch: 1,
            };
            running.engine.record(verdicts).await.expect("recorded");
            let settled: Vec<Ticket> = taken.iter().map(|delivery| delivery.ticket).collect();
            let kept: Vec<bool> = waiting.iter().map(|ticket| !settled.contains(ticket)).collect();
            let mut keep = kept.iter();
            waiting.retain(|_| *keep.next().expect("as many"));
            let mut keep = kept.iter();
            before.retain(|_| *keep.next().expect("as many"));
            let now: Vec<u64> = waiting.iter().map(|&ticket| ahead(&running.engine, ticket)).collect();
            assert!(now.iter().zip(&before).all(|(now, before)| now <= before));
            let shards = Shards::new(4).expect("in range");
            for shard in ALL {
                let of_shard =
                    (waiting.iter().zip(&now)).filter(|(ticket, _)| shards.place(ticket.sequence).0 == shard);
                let first = of_shard.min_by_key(|(ticket, _)| ticket.sequence);
                assert!(first.is_none_or(|(_, &ahead)| ahead == 0));
            }
            before = now;
        }
        assert!(waiting.is_empty());
    });
}

#[test]
fn a_rebase_sets_the_units_of_the_whole_sale_and_queues_buyers_of_any_shard_again() {
    let running = Running::start(None);
    let activity = open_split(&running, 20, 4);
    let buyers = users(8, 4, &ALL);
    running.block_on(async {
        let engine = &running.engine;
        assert_eq!(sold(&engine.claim(claims(&buyers)).await), 8);
        let taken = engine.take(10).await.expect("answers");
        let tickets = taken
            .iter()
            .map(|delivery| (delivery.ticket, Verdict::Conclude(Conclusion::Succeeded)));
        let verdicts = Verdicts {
            tickets: tickets.collect(),
            settled_batch: 1,
        };
        engine.record(verdicts).await.expect("recorded");
        assert_eq!(counted(engine).await, (12, 8, 0));
        let terms = |status| Terms {
            status,
            ..split(1, 4).opened.terms
        };
        engine.change(terms(Status::Paused)).await.expect("done");
        for (epoch, left, requeued) in [(2, 3, 8), (3, 50, 0), (4, 0, 0)] {
            let rebase = Rebase {
                activity,
                epoch: Epoch::new(epoch).expect("in range"),
                left,
                applied_movement: epoch,
                may_rise: true,
                requeue: buyers[..requeued]
                    .iter()
                    .map(|user| UserId::new(user).expect("valid"))
                    .collect(),
            };
            engine.rebase(rebase).await.expect("done");
            assert_eq!(counted(engine).await, (left, 8, 8));
            let figures = engine.figures(activity).await.expect("answers").expect("a state");
            assert_eq!((figures.epoch.get(), figures.applied_movement), (epoch, epoch));
        }
        engine.change(terms(Status::Running)).await.expect("done");
        let again = engine.take(10).await.expect("answers");
        let [mut first, mut second] =
            [&taken, &again].map(|deliveries| deliveries.iter().map(|delivery| delivery.ticket).collect::<Vec<_>>());
        first.sort_unstable();
        second.sort_unstable();
        assert_eq!(first, second);
        let stranger = users(1, 4, &[3]);
        assert_eq!(engine.claim(claims(&stranger)).await.len(), 1);
    });
}
