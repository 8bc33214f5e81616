//! Dead letters: retried, discarded, and brought in line after a crash between ledger and store.

use seckill_flow::{DeadLettersAfterEnd, Error, OperatorSettings};
use seckill_ledger::{Conflict, DeadLetterState, DeadLetters};
use seckill_sale::{TicketState, UnitTo};
use seckill_stock::Stock;

use crate::house::{ENDS, House, all_rows, run, user};

async fn state(house: &House, id: seckill_sale::ActivityId, name: &str) -> TicketState {
    house
        .store
        .buyer(id, &user(name))
        .await
        .expect("read")
        .expect("a buyer")
        .state
}

#[test]
fn retried_letter_becomes_its_order_and_retrying_twice_is_once() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.buy(id, &["a"]).await;
        let letter = house.park("a").await;
        house.balanced(id).await;
        let listed = house.operator.dead_letters(all_rows()).await.expect("read").rows;
        assert_eq!(listed, std::slice::from_ref(&letter));
        for _ in 0..2 {
            let retried = house
                .operator
                .retry_dead_letter(letter.id, house.context())
                .await
                .expect("retried");
            assert_eq!(retried.state, DeadLetterState::Retried);
        }
        assert_eq!(state(&house, id, "a").await, TicketState::Queued);
        house.settle().await;
        assert_eq!(state(&house, id, "a").await, TicketState::Succeeded);
        let again = house
            .operator
            .retry_dead_letter(letter.id, house.context())
            .await
            .expect("retried before");
        assert_eq!(again.state, DeadLetterState::Retried);
        let audit = house.balanced(id).await;
        assert_eq!((audit.orders_live, audit.dead, audit.stock_left), (1, 0, 1));
    });
}

#[test]
fn discarded_letter_gives_its_unit_back_once_to_the_open_sale() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.buy(id, &["a"]).await;
        let letter = house.park("a").await;
        for _ in 0..2 {
            let discard = house
                .operator
                .discard_dead_letter(letter.id, "bad".to_owned(), house.context());
            assert_eq!(discard.await.expect("discarded").unit_to, Some(UnitTo::Sale));
        }
        assert!(matches!(state(&house, id, "a").await, TicketState::Failed(_)));
        assert_eq!(house.left(id).await, 2);
        let retried = house.operator.retry_dead_letter(letter.id, house.context()).await;
        let error = retried.expect_err("it was discarded").to_string();
        assert_eq!(error, Conflict::Resolved.to_string());
        house.balanced(id).await;
    });
}

#[test]
fn letter_parked_again_after_a_retry_is_not_revived_by_the_old_one() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.buy(id, &["a"]).await;
        let first = house.park("a").await;
        house
            .operator
            .retry_dead_letter(first.id, house.context())
            .await
            .expect("retried");
        let second = house.park("a").await;
        assert_ne!(first.id, second.id);
        house
            .operator
            .retry_dead_letter(first.id, house.context())
            .await
            .expect("retried before");
        assert_eq!(state(&house, id, "a").await, TicketState::Dead);
        assert_eq!(house.operator.finish_dead_letters(id).await.expect("asked"), 0);
        house.balanced(id).await;
    });
}

#[test]
fn letter_without_a_store_state_is_retried_after_a_rebuild_only() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.buy(id, &["a"]).await;
        let letter = house.park("a").await;
        let house = house.with_empty_store();
        let refused = house.operator.retry_dead_letter(letter.id, house.context()).await;
        assert!(matches!(refused, Err(Error::NoState)), "{refused:?}");
        house.operator.preheat(id, house.context()).await.expect("preheated");
        house
            .operator
            .retry_dead_letter(letter.id, house.context())
            .await
            .expect("retried");
        house.settle().await;
        assert_eq!(house.balanced(id).await.orders_live, 1);
    });
}

#[test]
fn letter_that_the_ledger_does_not_know_is_settled_after_all() {
    run(async {
        let (house, id) = House::selling(2).await;
        house.buy(id, &["a"]).await;
        house.copy("older.db").await;
        house.park("a").await;
        let house = house.with_database("older.db");
        assert_eq!(state(&house, id, "a").await, TicketState::Dead);
        assert_eq!(house.operator.finish_dead_letters(id).await.expect("asked"), 1);
        house.settle().await;
        assert_eq!(house.balanced(id).await.orders_live, 1);
    });
}

#[test]
fn policy_discards_after_the_end_and_not_before() {
    run(async {
        let house = House::with(OperatorSettings {
            dead_letters_after_end: DeadLettersAfterEnd::DiscardAfter { wait_ms: 1_000 },
            ..OperatorSettings::default()
        });
        let id = house.opened(2).await;
        house.buy(id, &["a"]).await;
        let letter = house.park("a").await;
        let mut scheduler = house.scheduler();
        house.clock.set(ENDS.plus(999));
        assert_eq!(scheduler.tick(house.clock_now()).await.dead_letters, 0);
        house.clock.set(ENDS.plus(60_000));
        assert_eq!(scheduler.tick(house.clock_now()).await.dead_letters, 1);
        let letter = house.ledger.dead_letter(letter.id).await.expect("read");
        assert_eq!(
            (letter.state, letter.unit_to),
            (DeadLetterState::Discarded, Some(UnitTo::Product))
        );
        house.balanced(id).await;
    });
}
