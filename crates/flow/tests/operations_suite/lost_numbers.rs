//! A ledger that is restored to before a sale was created, beside a store that has its state; the next sale gets its number.

use seckill_flow::Part;
use seckill_ledger::{Catalog, Conflict, DeadLetters, Error, Operations, RecordState, SettleBatch, Settlement};
use seckill_queue::{Queue, Taken};
use seckill_sale::{NotReady, Refusal};

use crate::house::{House, PAY_WITHIN_MS, PRODUCT_UNITS, all_rows, run, user};

const RECOVERING: NotReady = NotReady::Recovering;

#[test]
fn a_sale_with_the_number_of_a_lost_one_sells_its_own_units_to_its_own_buyers() {
    for shards in [1, 4] {
        run(async {
            let (house, id) = House::with_a_number_given_twice(3, shards).await;
            for name in ["a", "c", "d"] {
                assert_eq!(
                    house.claim(id, name, 1).await,
                    Err(Refusal::NotReady(RECOVERING)),
                    "{name}"
                );
            }
            let taken = house.store.take_of_state(10).await;
            assert!(taken.is_err() || taken == Ok(Taken::default()), "{taken:?}");
            house.settle().await;
            assert_eq!(house.who_ordered().await, Vec::<String>::new());

            let ticked = house.scheduler().tick(house.clock_now()).await;
            assert_eq!((ticked.failures, ticked.preheated), (vec![], vec![id]));
            house.buy(id, &["d", "a", "e"]).await;
            assert_eq!(house.claim(id, "c", 1).await, Err(Refusal::SoldOut));
            house.settle().await;
            assert_eq!(house.who_ordered().await, ["a", "d", "e"]);
            let audit = house.balanced(id).await;
            assert_eq!((audit.stock_total, audit.orders_live, audit.queued), (3, 3, 0));
            let rows = house.ledger.audit_rows(all_rows()).await.expect("read").rows;
            let dropped = rows
                .iter()
                .find(|row| row.action == "store.drop_another")
                .expect("told");
            for name in ["a", "b", "c"] {
                assert!(dropped.after.contains(&format!("of {name}\"")), "{}", dropped.after);
            }
            // A second look changes nothing.
            let figures = house.figures(id).await;
            assert_eq!(house.scheduler().tick(house.clock_now()).await.failures, []);
            assert_eq!(house.figures(id).await, figures);
        });
    }
}

#[test]
fn an_operator_who_preheats_a_sale_with_the_number_of_a_lost_one_gets_a_state_of_its_own() {
    run(async {
        let (house, id) = House::with_a_number_given_twice(3, crate::SHARDS).await;
        let preheated = house.operator.preheat(id, house.context()).await.expect("preheated");
        assert!(preheated.created && preheated.left == 3, "{preheated:?}");
        house.buy(id, &["c", "d", "e"]).await;
        house.settle().await;
        assert_eq!(house.who_ordered().await, ["c", "d", "e"]);
        house.balanced(id).await;
    });
}

#[test]
fn recovery_gives_a_sale_with_the_number_of_a_lost_one_a_state_of_its_own() {
    run(async {
        let house = House::new();
        let product = house.product(PRODUCT_UNITS).await;
        house.copy("older").await;
        let made = house
            .operator
            .create_activity(House::new_activity(product, 5), house.context());
        let id = made.await.expect("an activity").id;
        house.operator.preheat(id, house.context()).await.expect("preheated");
        house.buy(id, &["a", "b"]).await;
        house.settle().await;
        house.buy(id, &["c"]).await;
        let house = house.with_database("older");
        house.clock.advance(1_000);
        let made = house
            .ledger
            .create_activity(House::new_activity(product, 3), house.context());
        assert_eq!(made.await.expect("an activity").id, id);
        house.operator.recover(None).await.expect("recovered");
        assert_eq!(house.operator.recovery_plan(None).await.expect("read"), []);
        house.clock.advance(1_000);
        house.scheduler().tick(house.clock_now()).await;
        house.buy(id, &["c", "d", "e"]).await;
        house.settle().await;
        assert_eq!(house.who_ordered().await, ["c", "d", "e"]);
        house.balanced(id).await;
    });
}

#[test]
fn a_sale_whose_number_is_not_its_own_in_the_store_is_shown_as_fenced_until_it_is() {
    run(async {
        let (house, id) = House::with_a_number_given_twice(3, crate::SHARDS).await;
        house.store.allow(0);
        let mut scheduler = house.scheduler();
        let ticked = scheduler.tick(house.clock_now()).await;
        assert!(
            ticked.failures.iter().any(|failure| failure.part == Part::Healing),
            "{:?}",
            ticked.failures
        );
        let is_fenced = async || {
            house
                .operator
                .is_fenced(&house.ledger.activity(id).await.expect("a row"))
        };
        assert!(is_fenced().await);
        assert_eq!(house.claim(id, "d", 1).await, Err(Refusal::NotReady(RECOVERING)));
        house.store.heal();
        house.clock.advance(1_000);
        assert_eq!(scheduler.tick(house.clock_now()).await.preheated, [id]);
        assert!(!is_fenced().await);
        house.buy(id, &["d", "e", "f"]).await;
        house.settle().await;
        assert_eq!(house.balanced(id).await.orders_live, 3);
    });
}

#[test]
fn a_batch_of_a_lost_sale_is_not_settled_for_the_one_that_has_its_number() {
    run(async {
        let house = House::new();
        let id = house.with_a_sale().await;
        let Taken {
            tickets,
            epoch,
            created_at,
        } = house.store.take_of_state(10).await.expect("taken");
        assert_eq!(tickets.len(), 1);
        house.forgets_all_sales();
        house.with_its_number(id, 3, crate::SHARDS).await;
        let batch = SettleBatch {
            activity: id,
            created_at,
            tickets,
            now: house.clock_now(),
            pay_within_ms: PAY_WITHIN_MS,
        };
        let settled = match epoch {
            Some(epoch) => house.ledger.settle_of(epoch, batch).await,
            None => house.ledger.settle(batch).await,
        };
        assert_eq!(settled, Err(Error::Conflict(Conflict::AnotherSale)));
        assert_eq!(house.ledger.tally(id).await.expect("read").available, 3);
    });
}

#[test]
fn tickets_of_a_sale_that_the_ledger_does_not_know_wait_and_are_no_dead_letters_of_the_next() {
    run(async {
        let house = House::new();
        let id = house.with_a_sale().await;
        house.forgets_all_sales();
        let mut scheduler = house.scheduler();
        scheduler.tick(house.clock_now()).await;
        for _ in 0..10 {
            house.settle().await;
            house.clock.advance(10_000);
        }
        assert_eq!(house.ledger.dead_letters(all_rows()).await.expect("read").rows, []);
        assert_eq!(house.ledger.record(id, &user("c")).await, Ok(None));
        house.with_its_number(id, 3, crate::SHARDS).await;
        scheduler.tick(house.clock_now()).await;
        house.buy(id, &["c"]).await;
        house.settle().await;
        let record = house.ledger.record(id, &user("c")).await.expect("read");
        assert_eq!(record.map(|record| record.state), Some(RecordState::Succeeded));
        assert_eq!(house.balanced(id).await.orders_live, 1);
    });
}
