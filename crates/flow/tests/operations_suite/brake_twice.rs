//! Two pauses of one sale, of which the store has not answered one: the later one counts, and the earlier one is not lost by it.

use std::pin::pin;

use futures_util::poll;
use seckill_flow::Error;
use seckill_ledger::{Catalog, Context, Idempotency, Replayed};
use seckill_sale::{ActivityId, EpochMs, Phase, Status};
use seckill_stock::Brake;

use crate::brake_hanging::{is_paused, pause_of_unknown_outcome, phase, status};
use crate::house::{House, OPENS, run};

const UNTIL: EpochMs = OPENS.plus(60_000);

fn keyed(house: &House, digest: u8) -> Context {
    Context {
        idempotency: Some(Idempotency {
            key: "k".to_owned(),
            digest: [digest; 16],
            replayed: Replayed::default(),
        }),
        ..house.context()
    }
}

async fn resumes_at(house: &House, id: ActivityId) -> Option<EpochMs> {
    house.ledger.activity(id).await.expect("read").resumes_at
}

#[test]
fn a_second_pause_lets_nobody_in_while_it_is_asked() {
    run(async {
        let (house, id) = House::selling(2).await;
        let _locked = house.lock_database();
        house.store.lose_holds(true);
        pause_of_unknown_outcome(&house, id).await;
        house.store.lose_holds(false);
        house.engine.disk.shut(true);
        let mut second = pin!(house.operator.pause(id, Some(UNTIL), house.context()));
        assert!(poll!(second.as_mut()).is_pending(), "the store does not answer");
        assert_eq!(phase(&house, id).await, Phase::Paused);
        house.engine.disk.shut(false);
        assert_eq!(second.await.expect("held").resumes_at, Some(UNTIL));
    });
}

#[test]
fn a_second_pause_that_the_store_does_not_take_leaves_the_first_in_force() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.engine.hang().await;
        let locked = house.lock_database();
        pause_of_unknown_outcome(&house, id).await;
        house.store.allow(0);
        let second = house.operator.pause(id, None, house.context()).await;
        assert!(
            matches!(second, Err(Error::Ledger(_))),
            "neither has taken it: {second:?}"
        );
        assert!(house.operator.is_pending(id));
        assert_eq!(phase(&house, id).await, Phase::Paused);
        house.store.heal();
        drop(locked);
        house.scheduler().tick(house.clock_now()).await;
        assert_eq!(status(&house, id).await, Status::Paused);
    });
}

#[test]
fn a_second_pause_that_only_the_ledger_takes_keeps_its_date() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.engine.hang().await;
        let locked = house.lock_database();
        pause_of_unknown_outcome(&house, id).await;
        drop(locked);
        house.store.allow(0);
        let _ = house.operator.pause(id, Some(UNTIL), house.context()).await;
        house.store.heal();
        assert_eq!(resumes_at(&house, id).await, Some(UNTIL));
        house.engine.answer_again().await;
        house.scheduler().tick(house.clock_now()).await;
        assert_eq!(
            (resumes_at(&house, id).await, house.store.held(id)),
            (Some(UNTIL), None)
        );
        is_paused(&house, id, "a").await;
    });
}

#[test]
fn the_earlier_hold_of_a_store_that_lost_the_later_one_ends_with_it() {
    run(async {
        let (house, id) = House::selling(2).await;
        let mut scheduler = house.scheduler();
        let locked = house.lock_database();
        let first = house.operator.pause(id, Some(UNTIL), house.context()).await;
        first.expect("held");
        house.clock.set(OPENS.plus(1));
        house.store.lose_holds(true);
        pause_of_unknown_outcome(&house, id).await;
        assert_eq!(
            house.catalogue.find(id).expect("known").resumes_at,
            None,
            "the later one counts"
        );
        drop(locked);
        for _ in 0..2 {
            scheduler.tick(house.clock_now()).await;
            assert_eq!(
                (status(&house, id).await, resumes_at(&house, id).await),
                (Status::Paused, None)
            );
            assert_eq!((house.store.held(id), house.operator.is_pending(id)), (None, false));
        }
    });
}

#[test]
fn a_repeated_or_refused_pause_lifts_no_earlier_one_of_which_the_store_has_not_heard() {
    run(async {
        for (digest, is_taken) in [(1, true), (2, true), (1, false), (2, false)] {
            let (house, id) = House::selling(2).await;
            house.operator.pause(id, None, keyed(&house, 1)).await.expect("paused");
            house.operator.resume(id, house.context()).await.expect("resumed");
            house.clock.set(OPENS.plus(1));
            house.engine.hang().await;
            let locked = house.lock_database();
            let first = house.operator.pause(id, Some(UNTIL), house.context()).await;
            assert!(first.is_err(), "{first:?}");
            drop(locked);
            house.clock.set(OPENS.plus(2));
            if !is_taken {
                house.store.allow(0);
            }
            let again = house.operator.pause(id, None, keyed(&house, digest)).await;
            assert!(again.is_err(), "{again:?}");
            house.store.heal();
            assert_eq!(phase(&house, id).await, Phase::Paused, "{digest}");
            house.engine.answer_again().await;
            is_paused(&house, id, "a").await;
            let mut scheduler = house.scheduler();
            for _ in 0..2 {
                scheduler.tick(house.clock_now()).await;
            }
            assert_eq!(
                (status(&house, id).await, resumes_at(&house, id).await),
                (Status::Paused, Some(UNTIL))
            );
            assert_eq!(house.store.held(id), None);
        }
    });
}
