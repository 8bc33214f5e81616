//! The audit finds what a hand took out of either side, and says nothing while it can't know.

use seckill_ledger::{Catalog, SettleBatch, Settlement};
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{ActivityId, Conclusion};
use seckill_stock::Stock;

use crate::house::{House, PAY_WITHIN_MS, run, user};

async fn sold() -> (House, ActivityId) {
    let (house, id) = House::selling(5).await;
    house.buy(id, &["a", "b", "c"]).await;
    house.settle().await;
    house.balanced(id).await;
    (house, id)
}

#[test]
fn books_balance_while_tickets_wait() {
    run(async {
        let (house, id) = House::selling(5).await;
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
        assert_eq!(house.handle.erase_buyer(id, user("b")).await, Ok(true));
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
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        let tickets = house.store.take(10).await.expect("taken");
        let ticket = tickets[0].ticket;
        house.balanced(id).await;
        let now = house.clock_now();
        let batch = SettleBatch {
            created_at: None,
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
fn crash_between_ledger_and_store_is_no_verdict_until_the_batch_comes_again() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a", "b"]).await;
        house.store.allow(0);
        assert!(house.worker.pass().await.is_err(), "committed, not acknowledged");
        house.store.heal();
        let house = house.restarted();
        let audit = house.operator.audit(id).await.expect("an audit");
        assert_eq!((audit.queued, audit.succeeded, audit.balanced), (2, 2, None));
        assert_eq!(house.operator.last_balanced(id), None);
        house.settle().await;
        house.balanced(id).await;
        assert_eq!(house.operator.last_balanced(id), Some(true));
    });
}

#[test]
fn ticket_that_arrives_while_it_is_looked_for_is_no_imbalance() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a"]).await;
        house.store.allow(0);
        assert!(house.worker.pass().await.is_err(), "committed, not acknowledged");
        house.store.heal();
        let house = house.restarted();
        let buyer = house.handle.buyer(id, &user("a")).await.expect("answers").expect("a");
        house.store.record_meanwhile(Verdicts {
            tickets: vec![(buyer.ticket, Verdict::Conclude(Conclusion::Succeeded))],
            settled_batch: 1,
        });
        house.balanced(id).await;
    });
}

#[test]
fn letter_whose_retry_broke_off_is_no_verdict_and_one_whose_row_is_gone_is_found() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["bad", "worse"]).await;
        let letter = house.park("bad").await;
        house.park("worse").await;
        house.store.allow(0);
        let retried = house.operator.retry_dead_letter(letter.id, house.context()).await;
        retried.expect("the ledger has it");
        assert!(house.store.heal(), "the store does not");
        assert_eq!(house.operator.audit(id).await.expect("an audit").balanced, None);
        house.scheduler().tick(house.clock_now()).await;
        house.balanced(id).await;
        assert_eq!(house.by_hand("DELETE FROM records WHERE user_id = 'worse'"), 1);
        assert_eq!(house.by_hand("DELETE FROM dead_letters WHERE user_id = 'worse'"), 1);
        assert_eq!(house.operator.audit(id).await.expect("an audit").balanced, Some(false));
        assert_eq!(house.operator.last_balanced(id), Some(false));
    });
}

#[test]
fn a_sale_is_fenced_while_its_state_is_lost_and_not_while_it_is_paused() {
    run(async {
        let (house, id) = sold().await;
        let is_fenced = async |house: &House| {
            let activity = house.ledger.activity(id).await.expect("read");
            house.operator.is_fenced(&activity)
        };
        house.operator.pause(id, None, house.context()).await.expect("paused");
        assert!(!is_fenced(&house).await);
        let house = house.with_empty_store();
        assert!(is_fenced(&house).await);
        house.operator.close(id, house.context()).await.expect("closed");
        assert!(!is_fenced(&house).await);
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
