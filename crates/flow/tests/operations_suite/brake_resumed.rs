//! A pause that ends, or gets another date, before a store whose disk hangs has heard of it.

use seckill_ledger::Catalog;
use seckill_sale::{EpochMs, Phase, Status};
use seckill_stock::Brake;

use crate::brake_hanging::{is_paused, pause_of_unknown_outcome, phase, status};
use crate::house::{House, OPENS, run};

#[test]
fn a_resume_while_the_store_hangs_outlives_the_hold_that_waits_there() {
    run(async {
        let (house, id) = House::selling(2).await;
        let mut scheduler = house.scheduler();
        house.engine.hang().await;
        pause_of_unknown_outcome(&house, id).await;
        let resumed = house.operator.resume(id, house.context()).await;
        assert!(resumed.is_err(), "the store has not said so: {resumed:?}");
        assert_eq!(status(&house, id).await, Status::Running);
        assert_eq!(phase(&house, id).await, Phase::Open);
        assert!(!house.operator.is_pending(id));
        house.engine.answer_again().await;
        for _ in 0..2 {
            scheduler.tick(house.clock_now()).await;
            assert_eq!(status(&house, id).await, Status::Running);
        }
        assert_eq!(house.store.held(id), None);
        assert_eq!(phase(&house, id).await, Phase::Open);
        house.buy(id, &["a"]).await;
    });
}

#[test]
fn a_hold_that_a_store_shows_for_a_moment_after_its_end_is_written_nowhere() {
    run(async {
        let (house, id) = House::selling(2).await;
        let mut scheduler = house.scheduler();
        house.engine.hang().await;
        pause_of_unknown_outcome(&house, id).await;
        // As where the frame with the hold is through, and the one with its end is not.
        house.store.allow(0);
        let _ = house.operator.resume(id, house.context()).await;
        house.engine.answer_again().await;
        assert!(house.store.held(id).is_some());
        scheduler.tick(house.clock_now()).await;
        assert_eq!(status(&house, id).await, Status::Running);
        house.store.heal();
        scheduler.tick(house.clock_now()).await;
        assert_eq!(
            (status(&house, id).await, house.store.held(id)),
            (Status::Running, None)
        );
        house.buy(id, &["a"]).await;
    });
}

#[test]
fn a_date_that_a_pause_gets_while_the_store_hangs_stands() {
    run(async {
        let (house, id) = House::selling(2).await;
        let mut scheduler = house.scheduler();
        let until = OPENS.plus(60_000);
        let resumes_at = async || house.ledger.activity(id).await.expect("read").resumes_at;
        house.engine.hang().await;
        pause_of_unknown_outcome(&house, id).await;
        let _ = house.operator.resume_at(id, until, house.context()).await;
        assert_eq!(resumes_at().await, Some(until));
        assert_eq!(shown_end(&house, id), Some(until));
        house.engine.answer_again().await;
        is_paused(&house, id, "a").await;
        scheduler.tick(house.clock_now()).await;
        assert_eq!(resumes_at().await, Some(until));
        assert_eq!(house.store.held(id), None, "the store has the rules");
        is_paused(&house, id, "b").await;
        house.clock.set(until);
        scheduler.tick(until).await;
        assert_eq!(status(&house, id).await, Status::Running);
        house.buy(id, &["c"]).await;
    });
}

/// When the gate of this node says that the sale goes on.
fn shown_end(house: &House, id: seckill_sale::ActivityId) -> Option<EpochMs> {
    house.catalogue.find(id).expect("known").resumes_at
}
