//! Reconciling the units of a whole sale.

use seckill_flow::{DifferenceKind, Fix};
use seckill_ledger::{SettleBatch, Settlement};
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{ActivityId, Conclusion, Refusal};

use crate::house::{House, PAY_WITHIN_MS, run};
use crate::reconcile::{check, report, selling};

#[test]
fn movement_that_missed_the_store_is_applied() {
    run(async {
        let (house, id) = selling().await;
        house.store.allow(0);
        let units = seckill_sale::Stock::new(3).expect("in range");
        house
            .operator
            .add_stock(id, units, house.context())
            .await
            .expect("added");
        house.store.heal();
        check(&house, id, DifferenceKind::MovementsUnapplied, None, true).await;
        assert_eq!(house.left(id).await, 9);
    });
}

/// Its answer was lost, so no worker holds the ticket: the store counts it as waiting, the ledger as an order.
#[test]
fn ticket_that_is_settled_before_units_are_counted_lowers_nothing() {
    run(async {
        let (house, id) = House::selling(6).await;
        house.buy(id, &["a"]).await;
        let tickets = house.store.take(10).await.expect("taken");
        let retry = Verdict::Retry {
            attempts: 0,
            not_before: house.clock_now(),
        };
        let given_back = Verdicts {
            tickets: vec![(tickets[0].ticket, retry)],
            settled_batch: 0,
        };
        house.store.record(given_back).await.expect("recorded");
        let batch = SettleBatch {
            created_at: None,
            activity: id,
            tickets,
            now: house.clock_now(),
            pay_within_ms: PAY_WITHIN_MS,
        };
        let ledger = house.ledger.clone();
        house.store.happens_before_figures(async move {
            ledger.settle(batch).await.expect("settled");
        });
        let report = house.operator.reconcile(id, Fix::Differences).await.expect("a report");
        assert_eq!((report.after.orders_live, report.differences), (1, Vec::new()));
        assert_eq!(house.left(id).await, 5);
        house.settle().await;
        house.balanced(id).await;
    });
}

#[test]
fn units_left_are_lowered_and_never_raised() {
    run(async {
        let (house, id) = selling().await;
        // A conclusion that gives a unit back which the ledger did not move.
        let ticket = house.ticket_of(id, "waiting").await;
        house.by_hand("UPDATE stock SET available = available - 1, total = total - 1");
        check(&house, id, DifferenceKind::LeftTooHigh, None, true).await;
        assert_eq!(house.left(id).await, 5);
        house.by_hand("UPDATE stock SET available = available + 1, total = total + 1");
        check(&house, id, DifferenceKind::LeftTooLow, None, false).await;
        assert_eq!(house.left(id).await, 5);
        let conclusion = Conclusion::Succeeded;
        let verdicts = Verdicts {
            tickets: vec![(ticket, Verdict::Conclude(conclusion))],
            settled_batch: 0,
        };
        house.store.record(verdicts).await.expect("recorded");
    });
}

#[test]
fn two_at_once_find_each_difference_once() {
    run(async {
        let (house, id) = selling().await;
        house.by_hand("DELETE FROM orders WHERE user_id = 'b'");
        house.by_hand("DELETE FROM records WHERE user_id = 'b'");
        house.by_hand("UPDATE stock SET available = available + 1");
        let (first, second) = tokio::join!(
            house.operator.reconcile(id, Fix::Differences),
            house.operator.reconcile(id, Fix::Differences)
        );
        let (first, second) = (first.expect("a report"), second.expect("a report"));
        assert_eq!(first.differences.len() + second.differences.len(), 1);
        house.settle().await;
        house.balanced(id).await;
    });
}

#[test]
fn sale_without_a_state_has_nothing_to_compare_and_an_unknown_one_is_an_error() {
    run(async {
        let house = House::new();
        let id = house.created(3).await;
        assert!(report(&house, id, Fix::Differences).await.is_clean());
        let unknown = ActivityId::new(999).expect("in range");
        assert!(house.operator.reconcile(unknown, Fix::Nothing).await.is_err());
    });
}

#[test]
fn fence_of_a_broken_reconciliation_is_taken_down() {
    run(async {
        for writes in 0..20 {
            let (house, id) = House::selling(10).await;
            house.buy(id, &["a"]).await;
            house.settle().await;
            let mut scheduler = house.scheduler();
            scheduler.tick(house.clock_now()).await;
            house.by_hand("DELETE FROM orders WHERE user_id = 'a'");
            house.by_hand("DELETE FROM records WHERE user_id = 'a'");
            house.by_hand("UPDATE stock SET available = available + 1");
            house.store.allow(writes);
            let reconciled = house.operator.reconcile(id, Fix::Differences).await;
            assert_eq!(reconciled.is_err(), house.store.heal());
            // Where it was broken off, the scheduler opens the sale again, and the next run does the rest.
            scheduler.tick(house.clock_now()).await;
            house.buy(id, &["b"]).await;
            house
                .operator
                .reconcile(id, Fix::Differences)
                .await
                .expect("reconciled");
            house.settle().await;
            let audit = house.balanced(id).await;
            assert_eq!((audit.orders_live, audit.stock_left), (2, 8), "after {writes} writes");
            if reconciled.is_ok() {
                return;
            }
        }
        panic!("the procedure never ends");
    });
}

#[test]
fn fence_of_a_caller_who_went_away_is_taken_down() {
    run(async {
        let (house, id) = selling().await;
        let mut scheduler = house.scheduler();
        scheduler.tick(house.clock_now()).await;
        house.by_hand("DELETE FROM orders WHERE user_id = 'b'");
        house.by_hand("DELETE FROM records WHERE user_id = 'b'");
        house.by_hand("UPDATE stock SET available = available + 1");
        tokio::select! {
            _ = house.operator.reconcile(id, Fix::Differences) => panic!("it was to be broken off behind the fence"),
            () = house.store.stall_after_a_change() => {}
        }
        assert!(matches!(house.claim(id, "d", 1).await, Err(Refusal::Paused { .. })));
        scheduler.tick(house.clock_now()).await;
        house.buy(id, &["d"]).await;
    });
}
