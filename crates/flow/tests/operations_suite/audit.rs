//! The audit finds what a hand took out of either side, and says nothing while it can't know.

use seckill_ledger::{SettleBatch, Settlement};
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{ActivityId, Conclusion};

use crate::house::{House, PAY_WITHIN_MS, run, user};

async fn sold() -> (House, ActivityId) {
    let house = House::new();
    let id = house.opened(5).await;
    house.buy(id, &["a", "b", "c"]).await;
    house.settle().await;
    house.balanced(id).await;
    (house, id)
}

#[test]
fn books_balance_while_tickets_wait() {
    run(async {
        let house = House::new();
        let id = house.opened(5).await;
        house.claim(id, "a", 3).await.expect("bought");
        let audit = house.balanced(id).await;
        assert_eq!(
            (audit.stock_total, audit.stock_left, audit.accepted, audit.queued),
            (5, 2, 3, 3)
        );
    });
}

#[test]
fn deleted_order_is_found() {
    run(async {
        let (house, id) = sold().await;
        assert_eq!(house.by_hand("DELETE FROM orders WHERE user_id = 'b'"), 1);
        let audit = house.operator.audit(id).await.expect("an audit");
        assert_eq!(audit.balanced, Some(false), "{audit:?}");
    });
}

#[test]
fn deleted_record_is_found() {
    run(async {
        let (house, id) = sold().await;
        assert_eq!(house.by_hand("DELETE FROM records WHERE user_id = 'b'"), 1);
        assert_eq!(house.operator.audit(id).await.expect("an audit").balanced, Some(false));
    });
}

#[test]
fn erased_buyer_is_found() {
    run(async {
        let (house, id) = sold().await;
        assert_eq!(house.embedded.erase_buyer(id, user("b")).await, Ok(true));
        assert_eq!(house.operator.audit(id).await.expect("an audit").balanced, Some(false));
    });
}

#[test]
fn stock_row_changed_by_hand_is_found() {
    run(async {
        let (house, id) = sold().await;
        assert_eq!(house.by_hand("UPDATE stock SET available = available + 1"), 1);
        assert_eq!(house.operator.audit(id).await.expect("an audit").balanced, Some(false));
    });
}

#[test]
fn worker_between_ledger_and_store_is_no_verdict() {
    run(async {
        let house = House::new();
        let id = house.opened(5).await;
        house.buy(id, &["a"]).await;
        let tickets = house.store.take(10).await.expect("taken");
        let ticket = tickets[0].ticket;
        house.balanced(id).await;
        let now = house.clock_now();
        let batch = SettleBatch {
            activity: id,
            tickets,
            now,
            pay_within_ms: PAY_WITHIN_MS,
        };
        let settled = house.ledger.settle(batch).await.expect("settled");
        assert_eq!(house.operator.audit(id).await.expect("an audit").balanced, None);
        let verdicts = Verdicts {
            tickets: vec![(ticket, Verdict::Conclude(Conclusion::Succeeded))],
            settled_batch: settled.batch,
        };
        house.store.record(verdicts).await.expect("recorded");
        house.balanced(id).await;
    });
}

#[test]
fn lost_store_of_a_running_sale_is_no_verdict() {
    run(async {
        let (house, id) = sold().await;
        let house = house.with_empty_store();
        let audit = house.operator.audit(id).await.expect("an audit");
        assert_eq!((audit.balanced, audit.succeeded, audit.stock_left), (None, 3, 2));
    });
}
