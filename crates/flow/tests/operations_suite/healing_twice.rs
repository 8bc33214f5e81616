//! A ticket of a lost state that two nodes hold: one has heard that there is no unit for it when one comes back, before the ledger knows.

use seckill_ledger::{RecordState, SettleBatch, Settlement};
use seckill_queue::{Adopted, Adoption, Queue};
use seckill_sale::{ActivityId, Delivery, FailureReason, Stock as Units, TicketState};

use crate::healing_house::keys;
use crate::house::{House, PAY_WITHIN_MS, run, user};

impl House {
    /// `a` has a ticket of a lost state, and a worker elsewhere has heard that no unit is left for it.
    async fn without_a_unit(&self) -> (ActivityId, Delivery) {
        self.without_units(1).await
    }

    /// The same, of so many units.
    async fn without_units(&self, units: u64) -> (ActivityId, Delivery) {
        let id = self.opened(units).await;
        self.claim(id, "a", units).await.expect("admitted");
        let ticket = self.store.take(1).await.expect("taken").remove(0);
        self.redis(&["FLUSHALL"]);
        self.recovers(id).await;
        self.claim(id, "stranger", units).await.expect("admitted");
        let offered = self.store.adopt(vec![ticket.clone()], Adoption::Waiting).await;
        assert_eq!(offered, Ok(vec![Adopted::NoUnit]));
        (id, ticket)
    }

    async fn gets_a_unit(&self, id: ActivityId) {
        self.gets_units(id, 1).await;
    }

    async fn gets_units(&self, id: ActivityId, units: u64) {
        let units = Units::new(units).expect("in range");
        self.operator.add_stock(id, units, self.context()).await.expect("added");
    }

    /// The worker elsewhere goes on: the ledger first, then the state.
    async fn fails_elsewhere(&self, id: ActivityId, ticket: Delivery) {
        let batch = SettleBatch {
            created_at: None,
            activity: id,
            tickets: vec![ticket.clone()],
            now: self.clock_now(),
            pay_within_ms: PAY_WITHIN_MS,
        };
        let epoch = self.figures(id).await.epoch;
        self.ledger.fail_of(epoch, batch).await.expect("failed");
        let reason = FailureReason::StoreOversold;
        let told = self.store.adopt(vec![ticket], Adoption::Failed(reason)).await;
        told.expect("told");
    }
}

const NO_UNIT: FailureReason = FailureReason::StoreOversold;

#[test]
fn a_ticket_that_is_to_fail_takes_no_unit_whoever_else_offers_it() {
    run(async {
        let house = House::new();
        let (id, ticket) = house.without_a_unit().await;
        house.gets_a_unit(id).await;
        // This node admitted it, and offers it.
        house.worker.adopt_strays().await;
        house.fails_elsewhere(id, ticket).await;
        house.is_well(id, &["a", "stranger"]).await;
        assert!(!house.worker.has_strays());
        assert_eq!(house.left(id).await, 1, "the unit is the store's to sell");
        let record = house.ledger.record(id, &user("a")).await.expect("read");
        assert_eq!(record.map(|record| record.state), Some(RecordState::Failed(NO_UNIT)));
        assert_eq!(house.state_of(id, "a").await, Some(TicketState::Failed(NO_UNIT)));
        house.buy(id, &["next"]).await;
        house.is_well(id, &["next"]).await;
    });
}

#[test]
fn a_buyer_who_bought_again_while_his_lost_ticket_failed_leaves_his_unit_to_the_next() {
    run(async {
        let house = House::new();
        let (id, ticket) = house.without_a_unit().await;
        house.gets_a_unit(id).await;
        house.buy(id, &["a"]).await;
        house.fails_elsewhere(id, ticket).await;
        let pass = house.worker.pass().await.expect("answers");
        assert_eq!(pass.oversold, 0, "the store has not admitted too many");
        house.is_well(id, &["a", "stranger"]).await;
        assert_eq!(house.left(id).await, 1);
        house.buy(id, &["next"]).await;
        house.is_well(id, &["next"]).await;
    });
}

/// The ledger has the first ticket, and the store the second one.
#[test]
fn the_books_balance_where_the_ticket_that_failed_was_larger_or_smaller_than_the_next() {
    for (first, second) in [(2, 1), (1, 2)] {
        run(async {
            let house = House::new();
            let (id, ticket) = house.without_units(first).await;
            house.gets_units(id, second).await;
            house.claim(id, "a", second).await.expect("admitted again");
            house.fails_elsewhere(id, ticket).await;
            for key in keys(id).into_iter().filter(|key| key.ends_with(":meta")) {
                let fields = house.redis(&["HKEYS", &key]);
                assert!(!fields.contains("none:"), "{fields}");
            }
            house.is_well(id, &["a", "stranger"]).await;
            assert_eq!(house.left(id).await, second);
            // Nor does a state that is built from the ledger differ from it.
            house.redis(&["FLUSHALL"]);
            house.recovers(id).await;
            house.is_well(id, &["a", "stranger"]).await;
            assert_eq!(house.left(id).await, second);
        });
    }
}
