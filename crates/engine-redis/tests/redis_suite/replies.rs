//! Replies that are lost or late: what was done is found out by asking again with the same key, and never done twice.

use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{Conclusion, Refusal};
use seckill_stock::Stock;
use seckill_stock::conformance::Fixture;
use seckill_testkit::Proxy;

use crate::sale::{buy, open};
use crate::support::Running;

#[test]
fn a_claim_whose_reply_is_eaten_is_asked_again_and_sold_once() {
    let running = Running::start(None);
    let activity = open(&running, 5);
    let network = Proxy::to(running.redis.address());
    let node = running.behind(format!("redis://{}", network.address), "behind");
    running.block_on(async {
        for round in 0..5 {
            // With the first the server learns the script; each later one is eaten.
            if 0 < round {
                network.eat_reply_to(b"unlucky-", 1);
            }
            let claim = Fixture::claim(&format!("unlucky-{round}"), 1, 1);
            let mut answer = node.claim(vec![claim.clone()]).await.remove(0);
            while let Err(refusal) = answer {
                assert!(
                    matches!(refusal, Refusal::OutcomeUnknown | Refusal::Busy),
                    "{refusal:?}"
                );
                answer = node.claim(vec![claim.clone()]).await.remove(0);
            }
            let reserved = answer.expect("admitted");
            let again = 0 < round;
            assert_eq!((reserved.ticket.sequence, reserved.replayed), (round + 1, again));
        }
        assert_eq!(network.replies_eaten(), 4);
        let figures = node.figures(activity).await.expect("answers").expect("a state");
        assert_eq!(
            (figures.stock_left, figures.accepted, figures.queued_tickets),
            (0, 5, 5)
        );
    });
}

#[test]
fn verdicts_whose_reply_is_eaten_count_once_when_told_again() {
    let running = Running::start(None);
    let activity = open(&running, 2);
    for user in ["a", "b"] {
        buy(&running, user).expect("admitted");
    }
    let network = Proxy::to(running.redis.address());
    let node = running.behind(format!("redis://{}", network.address), "behind");
    running.block_on(async {
        let taken = node.take(2).await.expect("answers");
        let failed = Conclusion::Failed {
            reason: seckill_sale::FailureReason::Discarded,
            unit_to: Some(seckill_sale::UnitTo::Sale),
        };
        let verdicts = Verdicts {
            tickets: taken
                .iter()
                .map(|delivery| (delivery.ticket, Verdict::Conclude(failed)))
                .collect(),
            settled_batch: 3,
        };
        network.eat_reply_to(b"conclude", 1);
        assert_eq!(
            node.record(verdicts.clone()).await,
            Err(seckill_queue::Error::OutcomeUnknown)
        );
        while node.record(verdicts.clone()).await.is_err() {
            tokio::task::yield_now().await;
        }
        assert_eq!(network.replies_eaten(), 1);
        let figures = node.figures(activity).await.expect("answers").expect("a state");
        assert_eq!((figures.stock_left, figures.queued_tickets), (2, 0));
        assert_eq!(node.acknowledged_batch().await, Ok(3));
    });
}
