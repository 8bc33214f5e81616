//! Whose an epoch is: whoever drew it builds or confirms with it, and nobody else; what it was drawn for is over once a later one is begun.

use seckill_flow::Part;
use seckill_ledger::{Catalog, Operations, RecordState, Settlement};
use seckill_sale::{FailureReason, Stock as Units, TicketState};

use crate::healing_house::GRACE_MS;
use crate::house::{House, all_rows, run, user};

#[test]
fn a_sound_state_is_raised_past_the_epoch_that_somebody_else_drew() {
    run(async {
        let (house, id) = House::selling(3).await;
        let first = house.figures(id).await.epoch;
        house.buy(id, &["a"]).await;
        let of_another = house.begun(id).await;
        assert!(first < of_another);
        house.tick(id).await;
        let raised = house.figures(id).await.epoch;
        assert!(of_another < raised, "{raised}");
        assert_eq!(house.ledger.activity(id).await.expect("there").epoch, Some(raised));
        let new = house.claim(id, "b", 1).await.expect("a unit").ticket;
        assert_eq!(new.epoch, raised);
        house.is_well(id, &["a", "b"]).await;
    });
}

#[test]
fn a_builder_whom_a_later_one_overtook_opens_nothing() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.buy(id, &["a", "b"]).await;
        house.redis(&["DEL", &house.key(id, "fresh")]);
        let (ledger, context) = (house.ledger.clone(), house.context());
        *house.store.overtaken.lock() = Some(Box::pin(async move {
            ledger.begin_opening(id, context).await.expect("begun");
        }));
        let before = house.ledger.activity(id).await.expect("there").epoch;
        let built = house
            .operator
            .preheat(id, house.context())
            .await
            .expect("at the second try");
        // The first drew one, another healer the next, and what is open now is of the third.
        let drawn = before.map(|epoch| epoch.get() + 3);
        assert_eq!((built.created, Some(built.epoch.get())), (true, drawn));
        house.is_well(id, &["a", "b"]).await;
        assert_eq!(house.balanced(id).await.orders_live, 2);
    });
}

/// The ledger has the failure, and the state does not hear of it before a unit comes: it would keep that unit for a ticket that is over.
#[test]
fn a_lost_ticket_that_failed_takes_no_unit_that_comes_later() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.buy(id, &["a", "b"]).await;
        house.holds_what_waits().await;
        house.redis(&["FLUSHALL"]);
        house.recovers(id).await;
        house.buy(id, &["c", "d"]).await;
        // The offer and what is given back; then the state cannot be told.
        house.store.allow(2);
        house.worker.adopt_strays().await;
        assert!(house.store.heal());
        let failed = RecordState::Failed(FailureReason::StoreOversold);
        for name in ["a", "b"] {
            let record = house.ledger.record(id, &user(name)).await.expect("read");
            assert_eq!(record.expect("a record").state, failed);
        }
        let units = Units::new(2).expect("in range");
        house
            .operator
            .add_stock(id, units, house.context())
            .await
            .expect("added");
        house.is_well(id, &["a", "b", "c", "d"]).await;
        assert!(!house.worker.has_strays());
        assert_eq!(house.left(id).await, 2);
        let told = Some(TicketState::Failed(FailureReason::StoreOversold));
        assert_eq!(house.state_of(id, "a").await, told);
    });
}

/// Each try would draw an epoch and leave a row in the operators' log, once a second, for as long as it lasts.
#[test]
fn a_store_that_cannot_write_is_not_healed_and_costs_no_epoch() {
    const SET: [&str; 2] = ["CONFIG", "SET"];
    let cases = [
        (["min-replicas-to-write", "1"], ["min-replicas-to-write", "0"]),
        (["maxmemory", "1"], ["maxmemory", "0"]),
    ];
    for (harm, cure) in cases {
        run(async {
            let (house, id) = House::selling(3).await;
            house.buy(id, &["a", "b"]).await;
            house.redis(&["DEL", &house.key(id, "fresh")]);
            let before = house.ledger.activity(id).await.expect("there");
            let rows = house.ledger.audit_rows(all_rows()).await.expect("read").rows.len();
            house.redis(&[SET, harm].concat());
            let mut scheduler = house.scheduler();
            for _ in 0..3 {
                let ticked = scheduler.tick(house.clock_now()).await;
                let failed = ticked.failures.iter().filter(|failure| failure.part == Part::Healing);
                assert_eq!((ticked.healed.len(), failed.count()), (0, 1), "{harm:?}");
            }
            assert_eq!(house.ledger.activity(id).await.expect("there"), before, "{harm:?}");
            let rows_now = house.ledger.audit_rows(all_rows()).await.expect("read").rows.len();
            assert_eq!(rows_now, rows, "{harm:?}");
            house.redis(&[SET, cure].concat());
            assert_eq!(
                scheduler.tick(house.clock_now()).await.healed,
                [id],
                "{cure:?}: at once"
            );
            house.clock.advance(GRACE_MS);
            house.is_well(id, &["a", "b"]).await;
        });
    }
}

/// What no probe finds: each try draws an epoch, so they grow rarer; another state is tried at once.
#[test]
fn a_heal_that_fails_after_it_drew_an_epoch_is_tried_again_with_growing_waits() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.buy(id, &["a", "b"]).await;
        house.settle().await;
        house.redis(&["FLUSHALL"]);
        let mut scheduler = house.scheduler();
        let epoch = async || {
            house
                .ledger
                .activity(id)
                .await
                .expect("there")
                .epoch
                .map_or(0, |epoch| epoch.get())
        };
        let (mut drawn_at, mut drawn) = (Vec::new(), epoch().await);
        for half_seconds in 0..240 {
            house.store.allow(0);
            let ticked = scheduler.tick(house.clock_now()).await;
            assert_eq!(ticked.healed, []);
            let is_told = ticked.failures.iter().any(|failure| failure.part == Part::Healing);
            assert!(is_told, "at {half_seconds} half seconds");
            if drawn != epoch().await {
                drawn = epoch().await;
                drawn_at.push(half_seconds);
            }
            house.store.heal();
            house.clock.advance(500);
        }
        let waits: Vec<_> = drawn_at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(waits.ends_with(&[8, 16, 32, 60, 60]), "{waits:?}");
        assert!(waits.len() <= 9, "{waits:?}");
        house.redis(&["SET", &house.key(id, "buyers"), "spoiled"]);
        assert_eq!(scheduler.tick(house.clock_now()).await.healed, [id]);
        house.clock.advance(GRACE_MS);
        house.is_well(id, &["a", "b"]).await;
    });
}

/// The right is found missing before anything is drawn; with a wait between the tries, for each stands in the log.
#[test]
fn a_user_who_may_not_build_a_state_costs_no_epoch() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.buy(id, &["a", "b"]).await;
        house.redis(&["FLUSHALL"]);
        let before = house.ledger.activity(id).await.expect("there");
        house.redis(&["ACL", "SETUSER", "default", "-xgroup"]);
        let mut scheduler = house.scheduler();
        for _ in 0..5 {
            assert_eq!(scheduler.tick(house.clock_now()).await.healed, []);
            house.clock.advance(500);
        }
        assert_eq!(house.ledger.activity(id).await.expect("there"), before);
        house.redis(&["ACL", "SETUSER", "default", "+xgroup"]);
        house.clock.advance(30_000);
        assert_eq!(scheduler.tick(house.clock_now()).await.healed, [id]);
        house.clock.advance(GRACE_MS);
        house.is_well(id, &["a", "b"]).await;
    });
}

/// It goes on in place where it can, which needs no memory; but this one can't, and that is known before an epoch is drawn for it.
#[test]
fn a_state_older_than_the_ledger_costs_no_epoch_while_the_store_is_full() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.buy(id, &["a", "b"]).await;
        house.keeps_a_copy(id);
        house.settle().await;
        house.goes_back(id);
        let before = house.ledger.activity(id).await.expect("there");
        house.redis(&["CONFIG", "SET", "maxmemory", "1"]);
        let mut scheduler = house.scheduler();
        for _ in 0..3 {
            assert_eq!(scheduler.tick(house.clock_now()).await.healed, []);
        }
        assert_eq!(house.ledger.activity(id).await.expect("there"), before);
        house.redis(&["CONFIG", "SET", "maxmemory", "0"]);
        assert_eq!(scheduler.tick(house.clock_now()).await.healed, [id]);
        house.clock.advance(GRACE_MS);
        house.is_well(id, &["a", "b"]).await;
    });
}
