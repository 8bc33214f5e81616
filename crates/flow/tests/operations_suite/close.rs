//! Pausing, resuming, patching and closing: what the operator says holds when the call returns, and no unit is lost by it.

use seckill_ledger::{ActivityPatch, Catalog, Conflict};
use seckill_sale::{EpochMs, Refusal, Status};
use seckill_stock::Stock;

use crate::house::{ENDS, House, OPENS, PRODUCT_UNITS, run};

#[test]
fn paused_sale_admits_nobody_until_resumed() {
    run(async {
        let (house, id) = House::selling(2).await;
        let paused = house
            .operator
            .pause(id, Some(EpochMs(OPENS.0 + 5)), house.context())
            .await;
        assert_eq!(paused.expect("paused").status, Status::Paused);
        assert!(matches!(house.claim(id, "a", 1).await, Err(Refusal::Paused { .. })));
        assert_eq!(house.catalogue.find(id).expect("known").status, Status::Paused);
        house.operator.resume(id, house.context()).await.expect("resumed");
        house.buy(id, &["a"]).await;
        assert_eq!(house.catalogue.find(id).expect("known").status, Status::Running);
    });
}

#[test]
fn a_later_end_is_in_force_at_once() {
    run(async {
        let (house, id) = House::selling(2).await;
        let patch = |ms| ActivityPatch {
            ends_at: Some(ENDS.plus(ms)),
            ..ActivityPatch::default()
        };
        house.clock.set(ENDS.plus(-1));
        let asked = house.context();
        let patched = house.operator.patch_activity(id, patch(10), asked.clone()).await;
        patched.expect("patched");
        house.clock.set(ENDS);
        house.buy(id, &["a"]).await;
        assert_eq!(house.catalogue.find(id).expect("known").window.ends_at, ENDS.plus(10));
        house.clock.set(ENDS.plus(10));
        let late = house.operator.patch_activity(id, patch(20), asked).await;
        let error = late.expect_err("asked before the end, read after it").to_string();
        assert_eq!(error, Conflict::Ended.to_string());
        assert!(matches!(house.claim(id, "b", 1).await, Err(Refusal::Ended)));
    });
}

#[test]
fn closing_returns_unsold_units_to_the_product_once() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["a", "b"]).await;
        house.settle().await;
        for _ in 0..2 {
            house.operator.close(id, house.context()).await.expect("closed");
            assert_eq!(house.product_units(id).await, PRODUCT_UNITS - 2);
        }
        assert!(matches!(house.claim(id, "c", 1).await, Err(Refusal::Ended)));
        let audit = house.balanced(id).await;
        assert_eq!((audit.stock_left, audit.returned, audit.orders_live), (0, 8, 2));
        let resumed = house.operator.resume(id, house.context()).await;
        let error = resumed.expect_err("closed is for ever").to_string();
        assert_eq!(error, Conflict::Closed.to_string());
    });
}

#[test]
fn closing_waits_for_tickets_that_wait() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["a", "b"]).await;
        house.operator.close(id, house.context()).await.expect("closed");
        let closing = house.operator.finish_closing(id).await.expect("asked");
        assert_eq!((closing.queued_tickets, closing.done), (2, false));
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS - 10);
        house.settle().await;
        let closing = house.operator.finish_closing(id).await.expect("asked");
        assert_eq!((closing.returned, closing.done), (8, true));
        assert_eq!(house.balanced(id).await.orders_live, 2);
    });
}

#[test]
fn dead_letter_keeps_its_unit_over_the_close() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["a", "bad"]).await;
        let letter = house.park("bad").await;
        house.settle().await;
        house.operator.close(id, house.context()).await.expect("closed");
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS - 2);
        house.balanced(id).await;
        assert!(
            !house.operator.forget(id).await.expect("asked"),
            "a dead letter may still be retried"
        );

        let discarded = house
            .operator
            .discard_dead_letter(letter.id, "bad".to_owned(), house.context())
            .await;
        assert_eq!(
            discarded.expect("discarded").unit_to,
            Some(seckill_sale::UnitTo::Product)
        );
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS - 1);
        let audit = house.balanced(id).await;
        assert_eq!((audit.returned, audit.failed, audit.dead), (9, 1, 0));
    });
}

#[test]
fn letter_decided_before_the_close_does_not_hold_it_up() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["bad"]).await;
        let letter = house.park("bad").await;
        house.store.allow(0);
        let discard = house
            .operator
            .discard_dead_letter(letter.id, "bad".to_owned(), house.context());
        discard.await.expect("the ledger has it");
        assert!(house.store.heal(), "the store does not");
        house.operator.close(id, house.context()).await.expect("closed");
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS);
        assert_eq!(house.balanced(id).await.failed, 1);
    });
}

#[test]
fn sale_that_was_never_preheated_gives_everything_back() {
    run(async {
        let house = House::new();
        let id = house.created(10).await;
        assert_eq!(house.balanced(id).await.stock_left, 10);
        house.operator.close(id, house.context()).await.expect("closed");
        assert_eq!(house.product_units(id).await, PRODUCT_UNITS);
        let audit = house.balanced(id).await;
        assert_eq!((audit.stock_left, audit.returned), (0, 10));
    });
}

#[test]
fn forgotten_sale_keeps_its_books() {
    run(async {
        let (house, id) = House::selling(10).await;
        house.buy(id, &["a", "b"]).await;
        house.settle().await;
        assert!(!house.operator.forget(id).await.expect("asked"), "it still sells");
        house.operator.close(id, house.context()).await.expect("closed");
        let before = house.balanced(id).await;
        assert!(house.operator.forget(id).await.expect("asked"));
        assert_eq!(house.handle.figures(id).await, Ok(None));
        assert_eq!(house.balanced(id).await, before);
        assert!(
            !house.operator.forget(id).await.expect("asked"),
            "there is nothing left to forget"
        );
    });
}

#[test]
fn drafts_are_sold_after_they_are_published() {
    run(async {
        let house = House::new();
        let product = house.product(PRODUCT_UNITS).await;
        let draft = seckill_ledger::NewActivity {
            draft: true,
            ..House::new_activity(product, 2)
        };
        let id = house
            .operator
            .create_activity(draft, house.context())
            .await
            .expect("created")
            .id;
        house.operator.preheat(id, house.context()).await.expect("preheated");
        assert!(matches!(house.claim(id, "a", 1).await, Err(Refusal::Paused { .. })));
        let publish = ActivityPatch {
            publish: true,
            ..ActivityPatch::default()
        };
        house
            .operator
            .patch_activity(id, publish, house.context())
            .await
            .expect("published");
        house.buy(id, &["a"]).await;
        assert_eq!(house.ledger.activity(id).await.expect("read").status, Status::Running);
    });
}
