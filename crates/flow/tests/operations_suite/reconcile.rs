//! Reconciling: each kind of difference is named with its buyer, what can be put right is, and a second run finds nothing to do.

use seckill_flow::{DifferenceKind, Fix, Report};
use seckill_ledger::DeadLetters;
use seckill_ledger::{Parking, SettleBatch, Settlement};
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::ActivityId;
use seckill_stock::Stock;

use crate::house::{House, PAY_WITHIN_MS, run, user};

/// A sale of ten with orders of `a`, `b` and `c`, and `waiting` in the queue.
pub(crate) async fn selling() -> (House, ActivityId) {
    let (house, id) = House::selling(10).await;
    house.buy(id, &["a", "b", "c"]).await;
    house.settle().await;
    house.buy(id, &["waiting"]).await;
    (house, id)
}

pub(crate) async fn report(house: &House, id: ActivityId, fix: Fix) -> Report {
    house.operator.reconcile(id, fix).await.expect("a report")
}

/// Kinds with their users and whether they were put right.
fn seen(report: &Report) -> Vec<(DifferenceKind, Option<&str>, bool)> {
    let differences = report.differences.iter();
    differences
        .map(|difference| {
            (
                difference.kind,
                difference.user.as_ref().map(|user| user.as_str()),
                difference.fixed,
            )
        })
        .collect()
}

/// Expects one difference: named by a dry run that changes nothing, put right or not by a fixing one, and a second one that changes nothing.
pub(crate) async fn check(house: &House, id: ActivityId, kind: DifferenceKind, name: Option<&str>, fixed: bool) {
    let before = house.figures(id).await;
    let dry = report(house, id, Fix::Nothing).await;
    assert_eq!(seen(&dry), [(kind, name, false)]);
    assert_eq!(house.figures(id).await, before, "a dry run writes nothing");
    let fixing = report(house, id, Fix::Differences).await;
    assert_eq!(seen(&fixing), [(kind, name, fixed)]);
    let after = house.figures(id).await;
    let second = report(house, id, Fix::Differences).await;
    assert_eq!(seen(&second), if fixed { vec![] } else { vec![(kind, name, false)] });
    assert_eq!(house.figures(id).await, after, "a second run changes nothing");
    assert_eq!(second.is_clean(), fixed);
}

#[test]
fn sale_that_is_forgotten_meanwhile_misses_nobody() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["a", "b"]).await;
        house.settle().await;
        house.operator.close(id, house.context()).await.expect("closed");
        house.store.forget_meanwhile(id);
        let report = report(&house, id, Fix::Nothing).await;
        assert_eq!(seen(&report), []);
        assert_eq!(house.store.stock_left(id), None, "it was forgotten meanwhile");
    });
}

#[test]
fn sale_in_order_has_no_differences_while_tickets_wait_and_are_with_workers() {
    run(async {
        let (house, id) = selling().await;
        for _ in 0..2 {
            let report = report(&house, id, Fix::Differences).await;
            assert!(report.differences.is_empty() && report.is_clean(), "{report:?}");
            assert_eq!(report.before, report.after);
            house.store.take(10).await.expect("taken");
        }
    });
}

#[test]
fn ticket_between_ledger_and_store_is_no_difference_until_its_worker_is_gone() {
    run(async {
        let (house, id) = selling().await;
        let tickets = house.store.take(10).await.expect("taken");
        let ticket = tickets[0].ticket;
        let batch = SettleBatch {
            created_at: None,
            activity: id,
            tickets,
            now: house.clock_now(),
            pay_within_ms: PAY_WITHIN_MS,
        };
        house.ledger.settle(batch).await.expect("settled");
        assert!(report(&house, id, Fix::Differences).await.differences.is_empty());
        let not_before = house.clock_now().plus(60_000);
        let verdicts = Verdicts {
            tickets: vec![(ticket, Verdict::GiveBack { not_before })],
            settled_batch: 0,
        };
        house.store.record(verdicts).await.expect("given back");
        check(&house, id, DifferenceKind::Unfinished, Some("waiting"), true).await;
        assert_eq!(house.balanced(id).await.orders_live, 4);
    });
}

#[test]
fn ticket_parked_in_the_ledger_only_is_parked_in_the_store() {
    run(async {
        let (house, id) = selling().await;
        let delivery = house.store.take(10).await.expect("taken").remove(0);
        let ticket = delivery.ticket;
        let reason = "bad row".to_owned();
        house
            .ledger
            .park(vec![Parking { delivery, reason }], house.clock_now())
            .await
            .expect("parked");
        let not_before = house.clock_now();
        let verdicts = Verdicts {
            tickets: vec![(ticket, Verdict::GiveBack { not_before })],
            settled_batch: 0,
        };
        house.store.record(verdicts).await.expect("given back");
        check(&house, id, DifferenceKind::ParkedInLedgerOnly, Some("waiting"), true).await;
        assert_eq!(house.balanced(id).await.dead, 1);
    });
}

#[test]
fn ticket_dead_in_the_store_only_is_queued_again() {
    run(async {
        let (house, id) = selling().await;
        let ticket = house.store.take(10).await.expect("taken")[0].ticket;
        let reason = "bad row".to_owned();
        let verdicts = Verdicts {
            tickets: vec![(ticket, Verdict::Bury { reason })],
            settled_batch: 0,
        };
        house.store.record(verdicts).await.expect("buried");
        check(&house, id, DifferenceKind::DeadInStoreOnly, Some("waiting"), true).await;
        house.settle().await;
        assert_eq!(house.balanced(id).await.orders_live, 4);
    });
}

#[test]
fn lost_record_is_settled_again_as_the_same_order() {
    run(async {
        let (house, id) = selling().await;
        let ticket = house.ticket_of(id, "b").await;
        house.by_hand("DELETE FROM orders WHERE user_id = 'b'");
        house.by_hand("DELETE FROM records WHERE user_id = 'b'");
        house.by_hand("UPDATE stock SET available = available + 1");
        check(&house, id, DifferenceKind::RecordMissing, Some("b"), true).await;
        house.settle().await;
        let record = house
            .ledger
            .record(id, &user("b"))
            .await
            .expect("read")
            .expect("a record");
        assert_eq!((record.ticket, record.has_order), (ticket, true));
        let audit = house.balanced(id).await;
        assert_eq!((audit.orders_live, audit.stock_left), (4, 6));
        house.buy(id, &["the sale goes on"].map(|name| &name[..3])).await;
    });
}

#[test]
fn lost_failure_stays_a_failure() {
    run(async {
        let (house, id) = selling().await;
        let letter = house.park("waiting").await;
        let discard = house
            .operator
            .discard_dead_letter(letter.id, "bad".to_owned(), house.context());
        discard.await.expect("discarded");
        house.by_hand("DELETE FROM records WHERE user_id = 'waiting'");
        house.by_hand("DELETE FROM dead_letters");
        check(&house, id, DifferenceKind::FailureMissing, Some("waiting"), true).await;
        house.settle().await;
        let audit = house.balanced(id).await;
        assert_eq!((audit.failed, audit.orders_live, audit.stock_left), (1, 3, 7));
    });
}
