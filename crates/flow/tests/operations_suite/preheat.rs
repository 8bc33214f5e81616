//! Preheating: by hand, twice, at once, mid-sale, and after the store lost everything.

use seckill_flow::{Error, SEQUENCES_AN_EPOCH};
use seckill_ledger::Catalog;
use seckill_sale::{Refusal, Status, TicketState};
use seckill_stock::Stock;

use crate::house::{ENDS, House, run, user};

#[test]
fn preheating_again_mid_sale_changes_nothing() {
    run(async {
        let (house, id) = House::selling(3).await;
        house.buy(id, &["a"]).await;
        let before = house.figures(id).await;
        let again = house.operator.preheat(id, house.context()).await.expect("preheated");
        assert_eq!((again.created, again.epoch, again.left), (false, before.epoch, 2));
        assert_eq!(house.figures(id).await, before);
        house.balanced(id).await;
    });
}

#[test]
fn two_at_once_make_one_state() {
    run(async {
        let house = House::new();
        let id = house.created(3).await;
        let preheat = || house.operator.preheat(id, house.context());
        let (first, second) = tokio::join!(preheat(), preheat());
        let created = [first, second].map(|outcome| outcome.expect("preheated").created);
        assert_eq!(created.iter().filter(|created| **created).count(), 1);
        assert_eq!(house.left(id).await, 3);
    });
}

#[test]
fn sale_that_has_not_begun_sells_nothing_before_its_start() {
    run(async {
        let house = House::new();
        house.clock.advance(-1);
        let id = house.opened(1).await;
        let refused = house.claim(id, "a", 1).await;
        assert!(matches!(refused, Err(Refusal::NotStarted { .. })), "{refused:?}");
        house.clock.advance(1);
        house.buy(id, &["a"]).await;
    });
}

#[test]
fn ended_or_closed_sale_is_not_preheated() {
    run(async {
        let house = House::new();
        let id = house.created(1).await;
        house.clock.set(ENDS);
        let ended = house.operator.preheat(id, house.context()).await;
        assert!(matches!(ended, Err(Error::Ended)), "{ended:?}");
        house.operator.close(id, house.context()).await.expect("closed");
        let closed = house.operator.preheat(id, house.context()).await;
        assert!(matches!(closed, Err(Error::Ledger(_))), "{closed:?}");
        assert_eq!(house.handle.figures(id).await, Ok(None));
    });
}

#[test]
fn lost_store_is_rebuilt_from_the_ledger_and_sells_no_unit_twice() {
    run(async {
        let (house, id) = House::selling(5).await;
        house.buy(id, &["sold", "parked", "discarded"]).await;
        house.park("parked").await;
        let discarded = house.park("discarded").await;
        let discard = house
            .operator
            .discard_dead_letter(discarded.id, "bad".to_owned(), house.context());
        discard.await.expect("discarded");
        house.settle().await;
        house.buy(id, &["unseen"]).await;

        let house = house.with_empty_store();
        let preheated = house.operator.preheat(id, house.context()).await.expect("preheated");
        // Five, less one sold and one that its dead letter keeps; the ticket that the ledger never saw is gone with the store.
        assert_eq!((preheated.created, preheated.epoch.get(), preheated.left), (true, 2, 3));
        let state = |name: &'static str| {
            let house = &house;
            async move {
                house
                    .store
                    .buyer(id, &user(name))
                    .await
                    .expect("read")
                    .map(|buyer| buyer.state)
            }
        };
        assert_eq!(state("sold").await, Some(TicketState::Succeeded));
        assert_eq!(state("parked").await, Some(TicketState::Dead));
        assert!(matches!(state("discarded").await, Some(TicketState::Failed(_))));
        assert!(matches!(house.claim(id, "sold", 2).await, Err(Refusal::KeyReused)));
        house.balanced(id).await;

        let bought = house.claim(id, "next", 3).await.expect("bought").ticket;
        assert!(SEQUENCES_AN_EPOCH < bought.sequence, "{bought}");
        assert!(matches!(house.claim(id, "late", 1).await, Err(Refusal::SoldOut)));
        house.settle().await;
        assert_eq!(house.balanced(id).await.orders_live, 4);
    });
}

#[test]
fn rules_changed_while_preheating_are_those_of_the_state() {
    run(async {
        let house = House::new();
        let other = house.opened(1).await;
        let id = house.created(1).await;
        // Somebody is handing rules to the store, so preheating has read its rows and waits for its turn.
        let held = house.store.hold_changes().await;
        let hand_over = house.operator.sync_terms(other);
        let preheat = house.operator.preheat(id, house.context());
        let pause_elsewhere = async {
            while house.ledger.activity(id).await.expect("read").epoch.is_none() {
                tokio::task::yield_now().await;
            }
            let paused = house.ledger.set_status(id, Status::Paused, None, house.context()).await;
            drop(held);
            paused
        };
        let (other, preheated, paused) = tokio::join!(hand_over, preheat, pause_elsewhere);
        other.expect("handed over");
        paused.expect("paused");
        assert!(preheated.expect("preheated").created);
        let refused = house.claim(id, "a", 1).await;
        assert!(matches!(refused, Err(Refusal::Paused { .. })), "{refused:?}");
    });
}
