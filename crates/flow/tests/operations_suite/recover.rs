//! Recovery after a database was restored from an older copy, or a store has lost its state.

use seckill_flow::PlannedStep;
use seckill_ledger::Orders;
use seckill_sale::{Stock as Units, TicketState};
use seckill_stock::Stock;

use crate::house::{House, PRODUCT_UNITS, run, user};

#[test]
fn house_in_order_has_nothing_to_recover() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        assert_eq!(house.operator.recovery_plan(None).await.expect("a plan"), []);
        assert_eq!(house.operator.recover(Some(id)).await.expect("recovered"), []);
        house.balanced(id).await;
    });
}

#[test]
fn orders_that_a_restored_database_lost_come_back_under_their_numbers() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["a"]).await;
        house.settle().await;
        house.copy("older.db").await;
        house.buy(id, &["b", "c"]).await;
        let order_no = house.claim(id, "d", 2).await.expect("bought").ticket.order_no();
        house.settle().await;
        house.buy(id, &["waiting"]).await;

        let house = house.with_database("older.db");
        let plan = house.operator.recovery_plan(None).await.expect("a plan");
        let [
            PlannedStep::Realign {
                queued_again: 3,
                by_hand: 0,
                ..
            },
        ] = plan[..]
        else {
            panic!("{plan:?}")
        };
        let before = house.figures(id).await;
        assert_eq!(house.operator.recovery_plan(None).await.expect("a plan"), plan);
        assert_eq!(house.figures(id).await, before, "a plan changes nothing");
        let recovered = house.operator.recover(None).await.expect("recovered");
        assert_eq!(recovered[0].step, plan[0]);
        assert!(before.epoch < house.figures(id).await.epoch);

        house.settle().await;
        let order = house
            .ledger
            .order(order_no, Some(user("d")))
            .await
            .expect("the same order");
        assert_eq!(order.quantity.get(), 2);
        let audit = house.balanced(id).await;
        assert_eq!((audit.orders_live, audit.stock_left), (6, 4));
        assert_eq!(house.operator.recovery_plan(None).await.expect("a plan"), []);
        house.claim(id, "last", 4).await.expect("the sale goes on");
    });
}

#[test]
fn movements_that_a_restored_database_lost_are_no_units_of_the_sale_any_more() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        house.settle().await;
        house.copy("older.db").await;
        let added = house
            .operator
            .add_stock(id, Units::new(4).expect("in range"), house.context())
            .await;
        added.expect("added");
        assert_eq!(house.left(id).await, 8);

        let house = house.with_database("older.db");
        house.operator.recover(Some(id)).await.expect("recovered");
        assert_eq!(house.left(id).await, 4);
        house.balanced(id).await;
        // A movement of the restored database has a number that the store had seen before.
        let added = house
            .operator
            .add_stock(id, Units::new(2).expect("in range"), house.context())
            .await;
        added.expect("added");
        assert_eq!(house.left(id).await, 6);
        house.balanced(id).await;
    });
}

#[test]
fn close_that_a_restored_database_lost_is_undone() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        house.settle().await;
        house.copy("older.db").await;
        house.operator.close(id, house.context()).await.expect("closed");
        assert_eq!(house.left(id).await, 0);

        let house = house.with_database("older.db");
        house.operator.recover(Some(id)).await.expect("recovered");
        house.scheduler().tick(house.clock_now()).await;
        assert_eq!(
            (house.left(id).await, house.product_units(id).await),
            (4, PRODUCT_UNITS - 5)
        );
        house.buy(id, &["b"]).await;
        house.settle().await;
        house.balanced(id).await;
    });
}

#[test]
fn letters_resolved_since_the_copy_keep_their_results() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["retried", "discarded"]).await;
        let retried = house.park("retried").await;
        let discarded = house.park("discarded").await;
        house.copy("older.db").await;
        house
            .operator
            .retry_dead_letter(retried.id, house.context())
            .await
            .expect("retried");
        house.settle().await;
        let discard = house
            .operator
            .discard_dead_letter(discarded.id, "bad".to_owned(), house.context());
        discard.await.expect("discarded");
        let before = house.balanced(id).await;

        let house = house.with_database("older.db");
        house.operator.recover(None).await.expect("recovered");
        assert_eq!(house.operator.recovery_plan(None).await.expect("a plan"), []);
        house.settle().await;
        assert_eq!(house.balanced(id).await, before);
        let state = house
            .store
            .buyer(id, &user("discarded"))
            .await
            .expect("read")
            .expect("a buyer")
            .state;
        assert!(matches!(state, TicketState::Failed(_)));
    });
}

#[test]
fn epoch_is_past_the_stores_also_where_the_copy_knows_of_no_preheating() {
    run(async {
        let house = House::new();
        let id = house.created(5).await;
        house.copy("older.db").await;
        house.operator.preheat(id, house.context()).await.expect("preheated");
        house.buy(id, &["a"]).await;
        house.settle().await;
        let before = house.figures(id).await.epoch;
        let house = house.with_database("older.db");
        house.operator.recover(None).await.expect("recovered");
        assert!(before < house.figures(id).await.epoch);
        house.settle().await;
        assert_eq!(house.balanced(id).await.orders_live, 1);
    });
}
