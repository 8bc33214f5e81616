//! What somebody holds while a state is lost: a worker its tickets, a node its buyers, an operator the sale.

use seckill_ledger::{Conflict, RecordState, SettleBatch, Settlement};
use seckill_queue::{Queue, Taken};
use seckill_sale::{ActivityId, Epoch, FailureReason, Refusal, TicketState};
use seckill_stock::{GivenUp, Stock};

use crate::healing_house::{GRACE_MS, keys, shards};
use crate::house::{House, PAY_WITHIN_MS, run, user};

impl House {
    /// Counts the ledger's epoch up, as whoever heals does first.
    pub(crate) async fn begun(&self, id: ActivityId) -> Epoch {
        let ledger: &dyn seckill_ledger::Ledger = &*self.ledger;
        ledger.begin_opening(id, self.context()).await.expect("begun").epoch
    }

    pub(crate) async fn state_of(&self, id: ActivityId, name: &str) -> Option<TicketState> {
        let buyer = self.store.buyer(id, &user(name)).await.expect("answers");
        buyer.map(|buyer| buyer.state)
    }

    /// A worker takes everything and can tell neither ledger nor store.
    pub(crate) async fn holds_what_waits(&self) {
        let lock = self.lock_database();
        self.store.allow(0);
        assert!(self.worker.pass().await.is_err());
        drop(lock);
        self.store.heal();
        assert!(self.worker.has_strays());
    }
}

#[test]
fn tickets_that_only_a_worker_knows_are_adopted_where_their_units_are() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.buy(id, &["a", "b", "c"]).await;
        house.holds_what_waits().await;
        house.redis(&["FLUSHALL"]);
        // No state takes them yet.
        house.worker.pass().await.expect("nothing to take");
        assert!(house.worker.has_strays());
        house.recovers(id).await;
        // `b` buys again, `new` takes a unit: one is left for the two others.
        let again = house.claim(id, "b", 1).await.expect("a unit").ticket;
        house.buy(id, &["new"]).await;
        house.is_well(id, &["a", "b", "c", "new"]).await;
        assert!(!house.worker.has_strays());
        for name in ["b", "new"] {
            assert!(house.succeeded(id, name).await, "{name}");
        }
        let of_b = house
            .ledger
            .record(id, &user("b"))
            .await
            .expect("read")
            .expect("a record");
        assert_eq!(of_b.ticket, again);
        assert_eq!(house.count_succeeded(id, &["a", "c"]).await, 1);
        let last = if house.succeeded(id, "a").await { "c" } else { "a" };
        assert!(last == "c" || crate::SHARDS != 1, "the oldest comes first");
        let of_last = house
            .ledger
            .record(id, &user(last))
            .await
            .expect("read")
            .expect("a record");
        assert_eq!(of_last.state, RecordState::Failed(FailureReason::StoreOversold));
        assert_eq!(
            house.state_of(id, last).await,
            Some(TicketState::Failed(FailureReason::StoreOversold))
        );
        assert_eq!(house.balanced(id).await.orders_live, 3);
    });
}

#[test]
fn a_batch_of_a_lost_state_is_refused_by_the_ledger() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.buy(id, &["a", "b"]).await;
        let Taken {
            tickets,
            epoch,
            created_at,
        } = house.store.take_of_state(10).await.expect("taken");
        house.redis(&["DEL", &house.key(id, "back")]);
        house.redis(&["DEL", &house.key(id, "fresh")]);
        house.recovers(id).await;
        let batch = SettleBatch {
            created_at,
            activity: id,
            tickets,
            now: house.clock_now(),
            pay_within_ms: PAY_WITHIN_MS,
        };
        let refused = house.ledger.settle_of(epoch.expect("an epoch"), batch).await;
        assert!(matches!(
            refused,
            Err(seckill_ledger::Error::Conflict(Conflict::OlderState { .. }))
        ));
        house.is_well(id, &["a", "b"]).await;
        assert_eq!(house.balanced(id).await.orders_live, 2);
    });
}

#[test]
fn a_healer_that_died_after_its_first_step_does_not_stop_settlement() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.buy(id, &["a", "b"]).await;
        house.begun(id).await;
        let pass = house.worker.pass().await.expect("answers");
        assert_eq!((pass.taken, pass.orders_written), (2, 0));
        assert!(house.worker.has_strays());
        house.tick(id).await;
        house.is_well(id, &["a", "b"]).await;
        assert!(!house.worker.has_strays());
        assert_eq!(house.balanced(id).await.orders_live, 2);
    });
}

#[test]
fn what_a_worker_settled_before_the_loss_is_settled_once() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.buy(id, &["a", "b"]).await;
        house.store.allow(0);
        assert!(
            house.worker.pass().await.is_err(),
            "the ledger has it, the store does not know"
        );
        house.store.heal();
        house.redis(&["FLUSHALL"]);
        house.recovers(id).await;
        assert_eq!(house.left(id).await, 1);
        house.is_well(id, &["a", "b"]).await;
        assert_eq!(house.balanced(id).await.orders_live, 2);
    });
}

#[test]
fn a_store_that_admits_too_many_sells_what_the_ledger_has_oldest_first() {
    run(async {
        let (house, id) = House::selling(2).await;
        for (key, left) in keys(id).iter().filter(|key| key.ends_with(":meta")).zip([4, 0, 0, 0]) {
            house.redis(&["HSET", key, "left", &left.to_string()]);
        }
        house.buy(id, &["a", "b", "c", "d"]).await;
        let pass = house.worker.pass().await.expect("answers");
        assert_eq!((pass.orders_written, pass.oversold), (2, 2));
        let buyers = ["a", "b", "c", "d"];
        assert_eq!(house.count_succeeded(id, &buyers).await, 2);
        assert!(
            house.count_succeeded(id, &buyers[..2]).await == 2 || crate::SHARDS != 1,
            "the oldest"
        );
        let failed = Some(TicketState::Failed(FailureReason::StoreOversold));
        for name in buyers {
            let has_failed = house.state_of(id, name).await == failed;
            assert_ne!(has_failed, house.succeeded(id, name).await, "{name}");
        }
        assert_eq!(house.left(id).await, 0);
        house.balanced(id).await;
    });
}

#[test]
fn an_operators_hold_outlives_a_broken_state() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.buy(id, &["a"]).await;
        let hold = seckill_sale::Hold {
            held_at: house.clock_now(),
            resumes_at: None,
        };
        seckill_stock::Brake::hold(&*house.store, id, hold).await.expect("held");
        house.redis(&["DEL", &house.key(id, "fresh")]);
        let epoch = house.begun(id).await;
        assert!(matches!(
            house.store.give_up(id, shards(), epoch).await,
            Ok(GivenUp::Remains(_))
        ));
        house.operator.preheat(id, house.context()).await.expect("built");
        house.clock.advance(GRACE_MS);
        assert_eq!(
            house.claim(id, "new", 1).await,
            Err(Refusal::Paused { resumes_at: None })
        );
    });
}
