//! A store that is behind its ledger: its journal was cut, and it never issued tickets that the ledger has.

use seckill_flow::{Apart, PlannedStep, SEQUENCES_AN_EPOCH, apart, older};
use seckill_ledger::{Ledger, SettleBatch, Settlement};
use seckill_queue::Queue;
use seckill_sale::{ActivityId, Delivery, Epoch, Ticket, TicketState};
use seckill_stock::Stock;

use crate::house::{House, PAY_WITHIN_MS, run, user};
use crate::trade::claim_of;

impl House {
    /// The ledger settles a ticket that the store, as it is now, never issued.
    async fn settled_elsewhere(&self, id: ActivityId, name: &str, sequence: u64) -> Ticket {
        let claim = claim_of(id, name, 1);
        let ticket = Ticket {
            activity: id,
            epoch: Epoch::FIRST,
            sequence,
        };
        let delivery = Delivery {
            ticket,
            user: claim.user,
            quantity: claim.quantity,
            key: claim.key,
            accepted_at: self.store.now(),
            request_id: claim.request_id,
            attempts: 0,
            deliveries: 1,
        };
        let batch = SettleBatch {
            created_at: None,
            activity: id,
            tickets: vec![delivery],
            now: self.store.now(),
            pay_within_ms: PAY_WITHIN_MS,
        };
        self.ledger.settle(batch).await.expect("settled");
        ticket
    }

    async fn apart(&self) -> Option<Apart> {
        let ledger: &dyn Ledger = &*self.ledger;
        apart(&*self.store, ledger).await.expect("both answer")
    }

    async fn older(&self) -> Option<Apart> {
        let ledger: &dyn Ledger = &*self.ledger;
        older(&*self.store, ledger).await.expect("both answer")
    }
}

#[test]
fn ledger_ahead_by_what_a_crash_left_unacknowledged_is_no_alarm() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a", "b"]).await;
        let taken = house.store.take(10).await.expect("taken");
        let batch = SettleBatch {
            created_at: None,
            activity: id,
            tickets: taken,
            now: house.store.now(),
            pay_within_ms: PAY_WITHIN_MS,
        };
        house.ledger.settle(batch).await.expect("settled");
        let house = house.restarted();
        assert_eq!(house.apart().await, None);
        house.settle().await;
        house.balanced(id).await;
    });
}

#[test]
fn sale_that_was_closed_and_forgotten_is_no_alarm() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        house.settle().await;
        house.operator.close(id, house.context()).await.expect("closed");
        house.store.forget(id).await.expect("forgotten");
        assert_eq!(house.apart().await, None);
    });
}

#[test]
fn store_that_never_issued_a_ticket_of_the_ledger_is_built_anew_and_keeps_whom_only_it_knows() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["settled"]).await;
        house.settle().await;
        house.buy(id, &["waiting", "robbed"]).await;
        assert_eq!(house.apart().await, None);
        // The journal was cut behind `settled`; the number of `robbed` had been another's.
        house.settled_elsewhere(id, "carl", 3).await;
        assert_eq!(house.apart().await, None, "the store is past it: reconciling tells");
        let newest = house.settled_elsewhere(id, "dora", 4).await;
        assert_eq!(house.apart().await, Some(Apart::Behind { activity: id, newest }));

        let plan = house.operator.recovery_plan(None).await.expect("a plan");
        let renew = PlannedStep::Renew {
            activity: id,
            kept: 1,
            lost: vec![format!("T{id}-1-3 of robbed")],
        };
        assert_eq!(plan, [renew]);
        assert!(
            plan[0].to_string().contains("1 are lost: T1-1-3 of robbed"),
            "{}",
            plan[0]
        );
        let before = house.figures(id).await;
        assert!(house.operator.recovery_plan(Some(id)).await.is_ok());
        assert_eq!(house.figures(id).await, before, "a plan changes nothing");
        let recovered = house.operator.recover(None).await.expect("recovered");
        assert_eq!(recovered[0].left, Some(6));
        assert_eq!(house.apart().await, None);
        assert_eq!(house.operator.recovery_plan(None).await.expect("a plan"), []);

        house.settle().await;
        for (name, sequence) in [("settled", 1), ("waiting", 2), ("carl", 3), ("dora", 4)] {
            let buyer = house.store.buyer(id, &user(name)).await.expect("read").expect("known");
            assert_eq!((buyer.ticket.sequence, buyer.state), (sequence, TicketState::Succeeded));
        }
        let next = house.claim(id, "robbed", 1).await.expect("bought").ticket;
        assert_eq!((next.epoch.get(), next.sequence), (2, SEQUENCES_AN_EPOCH + 1));
        house.settle().await;
        let audit = house.balanced(id).await;
        assert_eq!((audit.orders_live, audit.stock_left), (5, 5));
    });
}

#[test]
fn waiting_ticket_without_a_unit_left_is_named_as_lost() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.buy(id, &["waiting"]).await;
        house.settled_elsewhere(id, "carl", 2).await;
        house.settled_elsewhere(id, "dora", 3).await;
        house.operator.recover(None).await.expect("recovered");
        assert!(house.store.buyer(id, &user("waiting")).await.expect("read").is_none());
        house.settle().await;
        let audit = house.balanced(id).await;
        assert_eq!((audit.orders_live, audit.stock_left), (2, 0));
    });
}

#[test]
fn store_that_lost_a_running_sale_of_the_ledger_is_noticed() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        house.settle().await;
        let house = house.with_empty_store();
        assert!(matches!(house.apart().await, Some(Apart::Lost { activity, .. }) if activity == id));
        house.operator.recover(None).await.expect("recovered");
        assert_eq!(house.apart().await, None);
    });
}

#[test]
fn sale_that_only_the_store_knows_is_noticed() {
    run(async {
        let house = House::new();
        house.copy("older.db").await;
        let id = house.opened(5).await;
        let house = house.with_database("older.db");
        assert_eq!(house.apart().await, Some(Apart::Foreign { activity: id }));
    });
}

#[test]
fn ledger_that_lacks_results_of_its_store_is_an_older_copy_and_has_them_again_after_recovery() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        house.settle().await;
        house.copy("older.db").await;
        house.buy(id, &["b", "c"]).await;
        assert_eq!(house.older().await, None, "what waits has no result yet");
        house.settle().await;
        assert_eq!(house.older().await, None);
        let house = house.with_database("older.db");
        let lacking = Apart::Older { activity: id, units: 2 };
        assert_eq!(house.older().await, Some(lacking));
        house.operator.recover(None).await.expect("recovered");
        assert_eq!(house.older().await, None);
        house.settle().await;
        assert_eq!(house.balanced(id).await.orders_live, 3);
    });
}
