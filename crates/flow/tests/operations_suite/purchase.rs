//! A purchase whose answer is lost.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use seckill_engine_embedded::storage::simulated::Simulated;
use seckill_engine_embedded::{CompactionOptions, Options, Sequencer, open};
use seckill_flow::{Purchase, Wish};
use seckill_sale::{ActivityId, Claim, InstallationId, ManualClock, NotReady, Refusal, Scope, SharedRate};
use seckill_stock::conformance::Fixture;
use seckill_stock::{Batcher, Stock};

use crate::fragile::USED_UP;
use crate::house::{House, run};
use crate::trade::claim_of;

fn wish(activity: ActivityId) -> Wish {
    let Claim {
        activity,
        user,
        quantity,
        key,
        request_id,
    } = claim_of(activity, "a", 1);
    Wish {
        activity,
        user,
        quantity,
        key,
        request_id,
        challenge_met: true,
        rates: Vec::new(),
    }
}

#[test]
fn purchase_that_is_shed_when_asked_again_is_still_of_unknown_outcome() {
    run(async {
        let house = House::new();
        let wish = wish(house.opened(1).await);
        let (batcher, claims) = Batcher::new(house.store.clone(), 4);
        let purchase = Purchase::new(house.store.clone(), claims);
        let mut bought = pin!(purchase.purchase(wish));
        std::future::poll_fn(|context| {
            assert!(bought.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        // The first answer is lost, and the second time the claim is refused at the door.
        drop(batcher);
        assert_eq!(bought.await, Err(Refusal::OutcomeUnknown));
    });
}

#[test]
fn purchase_whose_write_failed_is_of_unknown_outcome_although_the_store_admits_nobody_when_asked_again() {
    let disk = Simulated::new(1);
    let mut options = Options::default();
    options.journal.segment_bytes = 8 << 20;
    options.journal.allocate_bytes = 1 << 20;
    options.journal.frame_bytes_max = 1 << 20;
    options.compaction = CompactionOptions {
        in_background: false,
        ..CompactionOptions::default()
    };
    let clock = Arc::new(ManualClock::at(Fixture::OPENS));
    let opened = open(disk.clone(), options, InstallationId([1; 16]), clock).expect("the journal opens");
    let (engine, mut sequencer) = (opened.engine, opened.sequencer);
    let store = Arc::new(engine.clone());
    // Steps of the store are taken here, and only while somebody waits for one: so the claim is the first to meet the dead disk.
    let opening = engine.open(Fixture::opening(Fixture::activity(), 1));
    stepping(&mut sequencer, opening).expect("opened");
    let (batcher, claims) = Batcher::new(store.clone(), 4);
    let purchase = Purchase::new(store, claims);
    disk.cut_power();
    let bought = stepping(&mut sequencer, async {
        tokio::select! {
            // The claim is with the batcher before the batcher looks, and with the store before its first step.
            biased;
            bought = purchase.purchase(wish(Fixture::activity())) => bought,
            () = batcher.run() => unreachable!("it runs for ever"),
        }
    });
    assert_eq!(bought, Err(Refusal::OutcomeUnknown));
    let again = stepping(&mut sequencer, engine.claim(vec![Fixture::claim("b", 2, 1)])).remove(0);
    assert_eq!(
        again,
        Err(Refusal::NotReady(NotReady::StoreReadOnly)),
        "this was asked twice"
    );
    engine.close();
}

/// Takes a step of the store whenever the task waits.
fn stepping<T>(sequencer: &mut Sequencer<Simulated>, task: impl Future<Output = T>) -> T {
    run(async {
        let mut task = pin!(task);
        std::future::poll_fn(|context| {
            let polled = task.as_mut().poll(context);
            if polled.is_pending() {
                sequencer.step();
                context.waker().wake_by_ref();
            }
            polled
        })
        .await
    })
}

#[test]
fn buyer_who_has_not_met_the_challenge_hears_that_before_he_hears_of_a_rate() {
    run(async {
        let (house, id) = House::selling(1).await;
        let (_batcher, claims) = Batcher::new(house.store.clone(), 4);
        let purchase = Purchase::new(house.store.clone(), claims);
        let rate = SharedRate {
            scope: Scope::User,
            key: USED_UP.to_owned(),
            interval_us: 1_000_000,
            burst: 1,
        };
        let buy = |challenge_met| {
            purchase.purchase(Wish {
                challenge_met,
                rates: vec![rate.clone()],
                ..wish(id)
            })
        };
        assert_eq!(buy(false).await, Err(Refusal::ChallengeFailed));
        assert_eq!(buy(true).await, Err(rate.refusal(1_000)));
    });
}
