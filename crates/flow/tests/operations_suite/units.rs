//! Movements of units between product, sale and orders: each reaches the store once, in its order.

use seckill_flow::OperatorSettings;
use seckill_ledger::Replayed;
use seckill_ledger::{Catalog, Idempotency, UnitsOnCancel};
use seckill_sale::{Refusal, Stock as Units};

use crate::house::{ENDS, House, PAY_WITHIN_MS, PRODUCT_UNITS, run, user};

fn to_sale() -> OperatorSettings {
    OperatorSettings {
        units_on_cancel: UnitsOnCancel::Sale,
        ..OperatorSettings::default()
    }
}

fn units(count: u64) -> Units {
    Units::new(count).expect("in range")
}

#[test]
fn added_stock_is_sold_once_however_often_it_is_asked_with_one_key() {
    run(async {
        let (house, id) = House::selling(1).await;
        house.buy(id, &["a"]).await;
        assert!(matches!(house.claim(id, "b", 1).await, Err(Refusal::SoldOut)));
        let mut context = house.context();
        context.idempotency = Some(Idempotency {
            key: "once".to_owned(),
            digest: [7; 16],
            replayed: Replayed::default(),
        });
        for _ in 0..3 {
            house
                .operator
                .add_stock(id, units(2), context.clone())
                .await
                .expect("added");
        }
        assert_eq!(house.left(id).await, 2);
        assert_eq!(house.catalogue.find(id).expect("known").stock_total, 3);
        house.buy(id, &["b", "c"]).await;
        house.settle().await;
        assert_eq!(house.balanced(id).await.orders_live, 3);
    });
}

#[test]
fn added_units_that_the_product_lacks_change_nothing() {
    run(async {
        let (house, id) = House::selling(1).await;
        let short = house
            .operator
            .add_stock(id, units(PRODUCT_UNITS), house.context())
            .await;
        assert!(short.is_err());
        assert_eq!(house.left(id).await, 1);
        house.balanced(id).await;
    });
}

#[test]
fn units_added_before_preheating_are_in_the_state_once() {
    run(async {
        let house = House::new();
        let id = house.created(1).await;
        house
            .operator
            .add_stock(id, units(2), house.context())
            .await
            .expect("added");
        let preheated = house.operator.preheat(id, house.context()).await.expect("preheated");
        assert_eq!(preheated.left, 3);
        assert_eq!(house.operator.apply_movements(id).await.expect("applied"), 0);
        house.balanced(id).await;
    });
}

#[test]
fn cancelled_unit_goes_to_the_product_unless_the_settings_say_sale() {
    for (settings, left, product) in [
        (OperatorSettings::default(), 0, PRODUCT_UNITS),
        (to_sale(), 1, PRODUCT_UNITS - 1),
    ] {
        run(async {
            let house = House::with(settings);
            let id = house.opened(1).await;
            let ticket = house.claim(id, "a", 1).await.expect("bought").ticket;
            house.settle().await;
            for _ in 0..2 {
                let cancel = house
                    .operator
                    .cancel(ticket.order_no(), &user("a"), house.clock_now())
                    .await;
                cancel.expect("cancelled");
            }
            assert_eq!((house.left(id).await, house.product_units(id).await), (left, product));
            assert!(matches!(house.claim(id, "a", 2).await, Err(Refusal::KeyReused)));
            house.balanced(id).await;
        });
    }
}

#[test]
fn units_expired_back_to_the_sale_are_sold_again_and_after_its_end_no_more() {
    run(async {
        let house = House::with(to_sale());
        let id = house.opened(2).await;
        house.buy(id, &["a", "b"]).await;
        house.settle().await;
        house.clock.advance(PAY_WITHIN_MS);
        let swept = house.operator.sweep(house.clock_now()).await.expect("swept");
        assert_eq!((swept.orders, swept.more), (2, false));
        assert_eq!(house.left(id).await, 2);
        house.buy(id, &["c"]).await;
        house.settle().await;
        house.balanced(id).await;

        house.clock.set(ENDS);
        assert_eq!(house.operator.sweep(house.clock_now()).await.expect("swept").orders, 1);
        assert_eq!(house.left(id).await, 1);
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS - 1);
        house.balanced(id).await;
        house.operator.close(id, house.context()).await.expect("closed");
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS);
        house.balanced(id).await;
    });
}

#[test]
fn movement_that_missed_the_store_is_applied_with_the_next_one_and_in_order() {
    run(async {
        let (house, id) = House::selling(1).await;
        house.store.allow(0);
        house
            .operator
            .add_stock(id, units(2), house.context())
            .await
            .expect("the ledger has it");
        assert!(house.store.heal(), "the store was down");
        assert_eq!(house.left(id).await, 1);
        house
            .operator
            .add_stock(id, units(4), house.context())
            .await
            .expect("added");
        assert_eq!(house.left(id).await, 7);
        assert_eq!(house.ledger.store_movements(id, 0).await.expect("read").len(), 2);
        house.balanced(id).await;
    });
}
