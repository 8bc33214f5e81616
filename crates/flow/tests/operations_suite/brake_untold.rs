//! A pause that neither store nor ledger took at once: it is told again until one of them has it.

use seckill_sale::{Phase, Status};
use seckill_stock::Brake;

use crate::brake_hanging::{is_paused, pause_of_unknown_outcome, phase, status};
use crate::house::{House, OPENS, run};

#[test]
fn a_pause_that_nobody_took_is_in_the_ledger_as_soon_as_that_is_back() {
    run(async {
        let (house, id) = House::selling(2).await;
        let mut scheduler = house.scheduler();
        house.engine.hang().await;
        let locked = house.lock_database();
        pause_of_unknown_outcome(&house, id).await;
        drop(locked);
        for _ in 0..2 {
            scheduler.tick(house.clock_now()).await;
            assert_eq!(status(&house, id).await, Status::Paused, "a restart does not sell");
            assert!(house.operator.is_pending(id), "the store has not said so");
        }
        house.engine.answer_again().await;
        is_paused(&house, id, "a").await;
        scheduler.tick(house.clock_now()).await;
        assert_eq!((house.store.held(id), house.operator.is_pending(id)), (None, false));
        is_paused(&house, id, "b").await;
        house.operator.resume(id, house.context()).await.expect("resumed");
        house.buy(id, &["c"]).await;
    });
}

#[test]
fn a_hold_that_got_lost_is_told_again_while_the_ledger_is_locked() {
    run(async {
        let (house, id) = House::selling(2).await;
        let mut scheduler = house.scheduler();
        let locked = house.lock_database();
        house.store.lose_holds(true);
        pause_of_unknown_outcome(&house, id).await;
        scheduler.tick(house.clock_now()).await;
        assert_eq!((house.store.held(id), house.operator.is_pending(id)), (None, true));
        assert_eq!(phase(&house, id).await, Phase::Paused);
        house.store.lose_holds(false);
        scheduler.tick(house.clock_now()).await;
        assert!(house.store.held(id).is_some());
        drop(locked);
        let house = house.restarted();
        house.operator.refresh_catalogue().await.expect("read");
        is_paused(&house, id, "a").await;
    });
}

#[test]
fn a_hold_that_got_lost_leaves_nothing_pending_once_ledger_and_rules_have_it() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.store.lose_holds(true);
        let paused = house.operator.pause(id, None, house.context()).await;
        paused.expect("the ledger and its rules are enough");
        house.scheduler().tick(house.clock_now()).await;
        assert_eq!(
            (status(&house, id).await, house.operator.is_pending(id)),
            (Status::Paused, false)
        );
        is_paused(&house, id, "a").await;
    });
}

#[test]
fn a_store_that_hangs_is_told_once() {
    run(async {
        let (house, id) = House::selling(2).await;
        let mut scheduler = house.scheduler();
        house.engine.hang().await;
        let _locked = house.lock_database();
        pause_of_unknown_outcome(&house, id).await;
        let told = house.store.told();
        for _ in 0..3 {
            scheduler.tick(house.clock_now()).await;
        }
        assert_eq!(house.store.told(), told);
    });
}

#[test]
fn nothing_resumes_by_its_date_while_the_store_has_not_said_that_it_holds() {
    run(async {
        let (house, id) = House::selling(2).await;
        let mut scheduler = house.scheduler();
        let until = OPENS.plus(60_000);
        house.engine.hang().await;
        let paused = house.operator.pause(id, Some(until), house.context()).await;
        assert!(paused.is_err(), "{paused:?}");
        house.clock.set(until);
        scheduler.tick(until).await;
        assert_eq!(status(&house, id).await, Status::Paused, "the hold waits in the store");
        house.engine.answer_again().await;
        for _ in 0..2 {
            scheduler.tick(until).await;
        }
        assert_eq!(status(&house, id).await, Status::Running);
        house.buy(id, &["a"]).await;
    });
}
