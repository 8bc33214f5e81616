//! Recovery of sales whose state the store has lost, holds too tightly, or alone knows; and of more losses than one report holds.

use seckill_flow::{DIFFERENCES_MAX, Fix, PlannedStep};
use seckill_ledger::Settlement;
use seckill_queue::{Queue, Verdict, Verdicts};
use seckill_sale::{Conclusion, Delivery};
use seckill_stock::Stock;

use crate::house::{House, run, user};
use crate::trade::claim_of;

#[test]
fn lost_store_is_rebuilt_and_only_where_a_sale_needs_it() {
    run(async {
        let house = House::new();
        let selling = house.opened(5).await;
        house.buy(selling, &["a"]).await;
        house.settle().await;
        let closed = house.opened(5).await;
        house.operator.close(closed, house.context()).await.expect("closed");
        let never_opened = house.created(5).await;
        let house = house.with_empty_store();
        let plan = house.operator.recovery_plan(None).await.expect("a plan");
        assert_eq!(plan, [PlannedStep::Rebuild { activity: selling }]);
        let recovered = house.operator.recover(None).await.expect("recovered");
        assert_eq!(recovered[0].left, Some(4));
        house.balanced(selling).await;
        let named = house.operator.recover(Some(never_opened)).await.expect("recovered");
        assert_eq!(named[0].left, Some(5));
        assert_eq!(house.operator.recover(Some(closed)).await.expect("recovered"), []);
    });
}

#[test]
fn sale_that_only_the_store_knows_is_named_and_left_alone() {
    run(async {
        let house = House::new();
        house.copy("older.db").await;
        let id = house.opened(5).await;
        house.buy(id, &["a"]).await;
        let house = house.with_database("older.db");
        let figures = house.figures(id).await;
        let recovered = house.operator.recover(None).await.expect("recovered");
        assert_eq!(recovered[0].step, PlannedStep::Foreign { activity: id });
        assert!(recovered[0].step.to_string().contains("the ledger does not"));
        assert_eq!(house.figures(id).await, figures);
    });
}

#[test]
fn units_held_back_are_found_by_reconciling_and_raised_by_recovery_alone() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["a", "b"]).await;
        // The entry of a waiting ticket is erased: nobody will ever settle it, and its unit is nowhere.
        house.handle.erase_buyer(id, user("b")).await.expect("erased");
        house.operator.reconcile(id, Fix::Differences).await.expect("a report");
        assert_eq!(house.left(id).await, 3);
        house.operator.recover(Some(id)).await.expect("recovered");
        assert_eq!(house.left(id).await, 4);
        house.settle().await;
        house.balanced(id).await;
        assert!(house.ledger.record(id, &user("b")).await.expect("read").is_none());
    });
}

#[test]
fn more_lost_tickets_than_one_report_holds_are_all_queued_again() {
    run(async {
        let house = House::new();
        // More than the part of the store that was read last: a report ends with it.
        let count = DIFFERENCES_MAX as u64 + 500;
        let activity = House::new_activity(house.product(1_000_000).await, count + 3);
        let created = house.operator.create_activity(activity, house.context()).await;
        let id = created.expect("created").id;
        house.operator.preheat(id, house.context()).await.expect("preheated");
        let claim = |n| claim_of(id, &format!("u{n}"), 1);
        for answer in house.store.claim((0..count).map(claim).collect()).await {
            answer.expect("bought");
        }
        // Made final in the store without the ledger, as if the ledger had lost them all.
        let taken = house.store.take(usize::MAX).await.expect("taken");
        let concluded = |delivery: Delivery| (delivery.ticket, Verdict::Conclude(Conclusion::Succeeded));
        let verdicts = Verdicts {
            tickets: taken.into_iter().map(concluded).collect(),
            settled_batch: 0,
        };
        house.store.record(verdicts).await.expect("recorded");
        let first = house.operator.reconcile(id, Fix::Nothing).await.expect("a report");
        assert!(first.truncated && !first.is_clean());
        // Broken off after the first part: what the rest holds is not sold again.
        house.store.allow(3);
        assert!(house.operator.recover(Some(id)).await.is_err());
        house.store.heal();
        assert_eq!(house.left(id).await, 3);
        house.operator.recover(Some(id)).await.expect("recovered");
        let figures = house.figures(id).await;
        assert_eq!((figures.queued, figures.stock_left), (count, 3));
        house.balanced(id).await;
    });
}
