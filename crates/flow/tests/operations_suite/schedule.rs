//! The scheduler's tick: what is due is done in its part, and a part that fails holds up no other.

use seckill_flow::{Part, SchedulerSettings, Ticked};
use seckill_ledger::Catalog;
use seckill_sale::{Refusal, Status};
use seckill_stock::Stock;

use crate::house::{ENDS, House, OPENS, PAY_WITHIN_MS, PRODUCT_UNITS, run};

#[test]
fn sale_is_preheated_ten_minutes_before_its_start_and_not_earlier() {
    run(async {
        let house = House::new();
        house.clock.set(OPENS.plus(-600_001));
        let id = house.created(3).await;
        let mut scheduler = house.scheduler();
        let ticked = scheduler.tick(house.clock_now()).await;
        assert_eq!((ticked.preheated.len(), ticked.next_at), (0, OPENS.plus(-600_000)));
        house.clock.advance(1);
        assert_eq!(scheduler.tick(house.clock_now()).await.preheated, [id]);
        assert_eq!(scheduler.tick(house.clock_now()).await.preheated, []);
        assert_eq!(house.left(id).await, 3);
    });
}

#[test]
fn sale_created_running_is_preheated_at_once_and_a_draft_is_not() {
    run(async {
        let house = House::new();
        let draft = seckill_ledger::NewActivity {
            draft: true,
            ..House::new_activity(house.product(PRODUCT_UNITS).await, 1)
        };
        house
            .operator
            .create_activity(draft, house.context())
            .await
            .expect("created");
        let id = house.created(3).await;
        assert_eq!(house.scheduler().tick(house.clock_now()).await.preheated, [id]);
    });
}

#[test]
fn ended_sale_is_closed_returned_and_later_forgotten() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        let mut scheduler = house.scheduler();
        let settings = SchedulerSettings::default();
        house.clock.set(ENDS.plus(settings.close_after_end_ms - 1));
        assert_eq!(scheduler.tick(house.clock_now()).await.closed, []);
        house.clock.set(ENDS.plus(settings.close_after_end_ms));
        assert_eq!(scheduler.tick(house.clock_now()).await.closed, [id]);
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS - 5, "a ticket waits");
        house.settle().await;
        house.clock.advance(settings.repair_every_ms);
        assert_eq!(scheduler.tick(house.clock_now()).await.units_returned, 4);
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS - 1);

        // Not in the same moment as others that end with it.
        house
            .clock
            .set(ENDS.plus(settings.forget_after_ms + settings.forget_after_ms / 20));
        let ticked = scheduler.tick(house.clock_now()).await;
        assert_eq!((ticked.orders_expired, ticked.forgotten), (1, vec![id]));
        assert_eq!(house.handle.figures(id).await, Ok(None));
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS);
        house.balanced(id).await;
        assert_eq!(scheduler.tick(house.clock_now()).await.failures, []);
    });
}

#[test]
fn sale_closed_before_a_restart_is_finished_after_it() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        house.operator.close(id, house.context()).await.expect("closed");
        let house = house.restarted();
        house.settle().await;
        assert_eq!(house.scheduler().tick(house.clock_now()).await.units_returned, 4);
        house.balanced(id).await;
    });
}

#[test]
fn paused_sale_goes_on_at_the_moment_that_the_operator_named() {
    run(async {
        let (house, id) = House::selling(5).await;
        house
            .operator
            .pause(id, Some(OPENS.plus(100)), house.context())
            .await
            .expect("paused");
        let mut scheduler = house.scheduler();
        let ticked = scheduler.tick(house.clock_now()).await;
        assert_eq!((ticked.resumed, ticked.next_at), (vec![], OPENS.plus(100)));
        assert!(matches!(house.claim(id, "a", 1).await, Err(Refusal::Paused { .. })));
        house.clock.advance(100);
        assert_eq!(scheduler.tick(house.clock_now()).await.resumed, [id]);
        house.buy(id, &["a"]).await;
    });
}

#[test]
fn order_expires_at_its_deadline_and_the_tick_is_wanted_then() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        house.settle().await;
        let deadline = OPENS.plus(PAY_WITHIN_MS);
        house.clock.set(deadline.plus(-1));
        let mut scheduler = house.scheduler();
        let ticked = scheduler.tick(house.clock_now()).await;
        assert_eq!((ticked.orders_expired, ticked.next_at), (0, deadline));
        house.clock.set(deadline);
        assert_eq!(scheduler.tick(house.clock_now()).await.orders_expired, 1);
        house.balanced(id).await;
    });
}

#[test]
fn rules_written_by_another_process_reach_the_store() {
    run(async {
        let (house, id) = House::selling(5).await;
        let mut scheduler = house.scheduler();
        scheduler.tick(house.clock_now()).await;
        house
            .ledger
            .set_status(id, Status::Paused, None, house.context())
            .await
            .expect("paused");
        house.buy(id, &["a"]).await;
        scheduler.tick(house.clock_now()).await;
        assert!(matches!(house.claim(id, "b", 1).await, Err(Refusal::Paused { .. })));
        assert_eq!(house.catalogue.find(id).expect("known").status, Status::Paused);
    });
}

#[test]
fn store_that_fails_holds_up_its_own_part_only() {
    run(async {
        let house = House::new();
        let sold = house.opened(1).await;
        house.buy(sold, &["a"]).await;
        house.settle().await;
        house.clock.advance(PAY_WITHIN_MS);
        let id = house.created(3).await;
        let mut scheduler = house.scheduler();
        house.store.allow(0);
        let ticked = scheduler.tick(house.clock_now()).await;
        assert_eq!((ticked.preheated, ticked.orders_expired), (vec![], 1));
        assert!(
            ticked
                .failures
                .iter()
                .any(|failure| failure.part == Part::Preheat && failure.activity == Some(id))
        );
        house.store.heal();
        assert_eq!(scheduler.tick(house.clock_now()).await.preheated, [id]);
    });
}

#[test]
fn loop_ticks_until_it_is_told_to_stop() {
    run(async {
        let house = House::new();
        let id = house.created(3).await;
        let shutdown = tokio_util::sync::CancellationToken::new();
        shutdown.cancel();
        house
            .scheduler()
            .run(shutdown, || true, |_| panic!("no tick was wanted"))
            .await;
        assert_eq!(house.handle.figures(id).await, Ok(None), "told before it began");
    });
}

#[test]
fn loop_of_a_node_that_does_not_schedule_reads_the_activities_and_changes_nothing() {
    run(async {
        let house = House::new();
        let id = house.created(3).await;
        let shutdown = tokio_util::sync::CancellationToken::new();
        let end = |_: &Ticked| shutdown.cancel();
        house.scheduler().run(shutdown.clone(), || false, end).await;
        assert_eq!(house.handle.figures(id).await, Ok(None), "another node preheats it");
        assert!(house.catalogue.find(id).is_ok(), "buyers are answered here, too");
    });
}
