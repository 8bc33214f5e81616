//! Whose an epoch is: whoever drew it builds or confirms with it, and nobody else; what it was drawn for is over once a later one is begun.

use seckill_ledger::{Catalog, RecordState, Settlement};
use seckill_sale::{FailureReason, Stock as Units, TicketState};

use crate::house::{House, run, user};

#[test]
fn a_sound_state_is_raised_past_the_epoch_that_somebody_else_drew() {
    run(async {
        let house = House::new();
        let id = house.opened(3).await;
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
        let house = House::new();
        let id = house.opened(3).await;
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
        let house = House::new();
        let id = house.opened(2).await;
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
    run(async {
        let house = House::new();
        let id = house.opened(3).await;
        house.buy(id, &["a", "b"]).await;
        house.redis(&["DEL", &house.key(id, "fresh")]);
        let before = house.ledger.activity(id).await.expect("there");
        house.redis(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
        for _ in 0..3 {
            let ticked = house.scheduler().tick(house.clock_now()).await;
            assert_eq!(ticked.healed, []);
        }
        assert_eq!(house.ledger.activity(id).await.expect("there"), before);
        house.redis(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
        house.recovers(id).await;
        house.is_well(id, &["a", "b"]).await;
    });
}
