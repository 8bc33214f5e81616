//! What processes hold of a sale that the ledger has lost, and a ledger that is restored to before a state of its own sale was begun.

use seckill_ledger::{Catalog, OrderFilter, Orders};
use seckill_sale::ActivityId;
use seckill_stock::{Condition, Stock};

use crate::house::{House, all_rows, run};

impl House {
    /// As restored from a copy that was made before the sale was preheated.
    fn forgets_what_was_sold(&self) {
        for statement in [
            "DELETE FROM orders",
            "DELETE FROM records",
            "DELETE FROM stock_movements WHERE kind = 'settled'",
            "UPDATE stock SET available = total",
            "UPDATE activities SET epoch = NULL, version = 1",
        ] {
            self.by_hand(statement);
        }
    }

    pub(crate) async fn forgets_and_makes_the_next(&self, id: ActivityId) {
        let product = self.ledger.activity(id).await.expect("a row").product_id;
        for rows in ["orders", "records", "stock_movements", "stock", "activities"] {
            self.by_hand(&format!("DELETE FROM {rows}"));
        }
        self.clock.advance(1_000);
        let made = self
            .operator
            .create_activity(House::new_activity(product, 3), self.context());
        assert_eq!(made.await.expect("an activity").id, id);
    }

    pub(crate) async fn has_only_own_buyers(&self, id: ActivityId) {
        self.tick(id).await;
        self.worker.adopt_strays().await;
        self.buy(id, &["d", "e", "f"]).await;
        self.is_well(id, &["d", "e", "f"]).await;
        assert!(!self.worker.has_strays());
        let page = self.ledger.orders(OrderFilter::default(), all_rows()).await;
        let orders = page.expect("orders").rows;
        assert!(
            orders
                .iter()
                .all(|order| ["d", "e", "f"].contains(&order.user.as_str())),
            "{orders:?}"
        );
        assert_eq!(orders.len(), 3);
    }
}

#[test]
fn what_a_worker_and_a_node_hold_of_a_lost_sale_is_void_in_the_one_that_has_its_number() {
    // The store still has the other sale's state, or was emptied by whoever restored the database: epochs begin anew then.
    for is_emptied in [false, true] {
        run(async {
            let (house, id) = House::selling(5).await;
            house.buy(id, &["a", "b", "c"]).await;
            house.holds_what_waits().await;
            if is_emptied {
                house.redis(&["FLUSHALL"]);
            }
            house.forgets_and_makes_the_next(id).await;
            house.has_only_own_buyers(id).await;
        });
    }
}

#[test]
fn a_state_of_another_sale_whose_server_started_anew_is_neither_confirmed_nor_built_from() {
    for key in ["server", "fresh"] {
        run(async {
            let (house, id) = House::selling(5).await;
            house.buy(id, &["a", "b", "c"]).await;
            if key == "server" {
                let meta = house.key(id, "meta");
                house.redis(&["HSET", &meta, "server", "another"]);
            } else {
                let fresh = house.key(id, "fresh");
                house.redis(&["DEL", &fresh]);
            }
            house.forgets_and_makes_the_next(id).await;
            assert!(
                matches!(house.store.condition(id).await, Ok(Condition::Another { .. })),
                "{key}"
            );
            house.has_only_own_buyers(id).await;
        });
    }
}

#[test]
fn remains_of_a_state_without_meta_that_are_older_than_the_sale_are_none_of_its() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a", "b", "c"]).await;
        for key in crate::healing_house::keys(id) {
            if key.ends_with(":meta") {
                house.redis(&["DEL", &key]);
            }
        }
        house.forgets_and_makes_the_next(id).await;
        house.has_only_own_buyers(id).await;
    });
}

#[test]
fn a_ledger_that_never_began_the_state_of_its_own_sale_is_told_again_what_it_lost() {
    for is_doubtful in [false, true] {
        run(async {
            let (house, id) = House::selling(5).await;
            house.buy(id, &["a", "b"]).await;
            house.settle().await;
            house.buy(id, &["c"]).await;
            let tickets = house.tickets_of(id, &["a", "b", "c"]).await;
            house.forgets_what_was_sold();
            if is_doubtful {
                let meta = house.key(id, "meta");
                house.redis(&["HSET", &meta, "server", "another"]);
            }
            house.is_well(id, &["a", "b", "c"]).await;
            assert_eq!(house.tickets_of(id, &["a", "b", "c"]).await, tickets);
            assert_eq!(house.count_succeeded(id, &["a", "b", "c"]).await, 3);
            let row = house.ledger.activity(id).await.expect("a row");
            assert_eq!(row.epoch, Some(house.figures(id).await.epoch));
            assert!(!house.operator.is_fenced(&row));
            assert_eq!(house.left(id).await, 2);
            house.buy(id, &["d", "e"]).await;
            house.is_well(id, &["d", "e"]).await;
            assert_eq!(house.balanced(id).await.orders_live, 5);
        });
    }
}

/// It was fenced for its epoch when it was lost: the next one is not.
#[test]
fn a_state_that_takes_the_place_of_one_that_the_ledger_never_began_sells() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.forgets_what_was_sold();
        let mut scheduler = house.scheduler();
        house.store.allow(1);
        assert_ne!(scheduler.tick(house.clock_now()).await.failures, []);
        house.store.heal();
        house.redis(&["FLUSHALL"]);
        house.clock.advance(2_000);
        let ticked = scheduler.tick(house.clock_now()).await;
        assert_eq!((ticked.failures, ticked.preheated), (vec![], vec![id]));
        house.clock.advance(2_000);
        house.buy(id, &["d"]).await;
    });
}

#[test]
fn a_state_that_the_ledger_never_began_sells_nothing_until_the_ledger_has_followed() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        house.settle().await;
        house.forgets_what_was_sold();
        let mut scheduler = house.scheduler();
        // The fence itself is written, and nothing behind it.
        house.store.allow(1);
        assert_ne!(scheduler.tick(house.clock_now()).await.failures, []);
        house.store.heal();
        let row = house.ledger.activity(id).await.expect("a row");
        assert!(house.operator.is_fenced(&row));
        house.operator.sync_terms(id).await.expect("told");
        let refused = house.claim(id, "d", 1).await;
        assert!(
            matches!(refused, Err(seckill_sale::Refusal::Paused { .. })),
            "{refused:?}"
        );
        house.clock.advance(2_000);
        assert_eq!(scheduler.tick(house.clock_now()).await.failures, []);
        house.buy(id, &["d"]).await;
        house.is_well(id, &["a", "d"]).await;
        assert_eq!(house.count_succeeded(id, &["a", "d"]).await, 2);
    });
}

impl House {
    async fn tickets_of(&self, id: ActivityId, names: &[&str]) -> Vec<seckill_sale::Ticket> {
        let mut tickets = Vec::new();
        for name in names {
            tickets.push(self.ticket_of(id, name).await);
        }
        tickets
    }
}
