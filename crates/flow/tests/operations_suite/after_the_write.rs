//! The ledger has what the operator asked for, and answers no more: whoever asked never hears that nothing was done.

use seckill_flow::Error;
use seckill_ledger::{ActivityPatch, Catalog, Error as LedgerError};
use seckill_sale::{Refusal, Status, Stock as Units};

use crate::failing::{answer_again, fail_after};
use crate::house::{House, run};

#[test]
fn a_close_that_was_written_shuts_the_store_though_the_row_can_not_be_read_again() {
    run(async {
        let (house, id) = House::selling(3).await;
        fail_after(&house.ledger, 1);
        let closed = house.operator.close(id, house.context()).await.expect("it is written");
        assert_eq!(closed.status, Status::Closed);
        assert!(matches!(house.claim(id, "late", 1).await, Err(Refusal::Ended)));
        assert_eq!(house.catalogue.find(id).expect("known").status, Status::Closed);
        answer_again(&house.ledger);
        house.scheduler().tick(house.clock_now()).await;
        house.balanced(id).await;
    });
}

#[test]
fn a_resume_that_was_written_is_unknown_while_the_row_can_not_be_read_and_the_scheduler_ends_it() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.operator.pause(id, None, house.context()).await.expect("paused");
        fail_after(&house.ledger, 1);
        let resumed = house.operator.resume(id, house.context()).await;
        assert!(
            matches!(
                resumed,
                Err(Error::Stock(seckill_stock::Error::OutcomeUnknown) | Error::Ledger(LedgerError::OutcomeUnknown(_)))
            ),
            "{resumed:?}"
        );
        // Another node may have paused it again since: only the ledger may let buyers in.
        assert!(matches!(house.claim(id, "early", 1).await, Err(Refusal::Paused { .. })));
        answer_again(&house.ledger);
        house.scheduler().tick(house.clock_now()).await;
        house.claim(id, "early", 2).await.expect("it goes on");
    });
}

#[test]
fn a_change_that_is_none_of_the_store_s_is_done_once_it_is_written() {
    run(async {
        let (house, id) = House::selling(3).await;
        fail_after(&house.ledger, 1);
        let patch = ActivityPatch {
            title: Some("newer".to_owned()),
            ..ActivityPatch::default()
        };
        let patched = house.operator.patch_activity(id, patch, house.context()).await;
        assert_eq!(patched.expect("it is written").title, "newer");
        assert_eq!(house.catalogue.find(id).expect("known").title, "newer");
        house.claim(id, "a", 1).await.expect("it sells");
    });
}

#[test]
fn added_units_are_told_as_they_were_written_and_reach_the_store_later() {
    run(async {
        let (house, id) = House::selling(3).await;
        fail_after(&house.ledger, 1);
        let units = Units::new(4).expect("in range");
        let added = house.operator.add_stock(id, units, house.context()).await;
        let (movement, activity) = added.expect("it is written");
        assert_eq!((movement.units, activity.stock_total), (4, 7));
        answer_again(&house.ledger);
        assert_eq!(house.ledger.activity(id).await.expect("read"), activity);
        house.scheduler().tick(house.clock_now()).await;
        assert_eq!(house.left(id).await, 7);
        house.balanced(id).await;
    });
}

#[test]
fn a_state_that_was_built_is_preheated_whatever_the_ledger_says_then() {
    run(async {
        let house = House::new();
        let id = house.created(3).await;
        let ledger = house.ledger.clone();
        *house.store.opening.lock() = Some(Box::pin(async move { fail_after(&ledger, 0) }));
        let preheated = house.operator.preheat(id, house.context()).await.expect("it is built");
        assert!(preheated.created);
        assert!(house.catalogue.find(id).expect("known").epoch.is_some());
    });
}
