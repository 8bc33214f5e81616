//! Differences that no procedure may put right: each is named with its buyer and left to a person.

use seckill_flow::DifferenceKind;
use seckill_sale::TicketState;
use seckill_stock::Stock;

use crate::house::{run, user};
use crate::reconcile::{check, selling};

#[test]
fn lost_order_row_is_named_and_left_to_a_person() {
    run(async {
        let (house, id) = selling().await;
        house.by_hand("DELETE FROM orders WHERE user_id = 'b'");
        check(&house, id, DifferenceKind::OrderMissing, Some("b"), false).await;
        assert_eq!(house.operator.audit(id).await.expect("an audit").balanced, Some(false));
    });
}

#[test]
fn erased_buyer_is_named_and_left_to_a_person() {
    run(async {
        let (house, id) = selling().await;
        house.handle.erase_buyer(id, user("b")).await.expect("erased");
        check(&house, id, DifferenceKind::BuyerMissing, Some("b"), false).await;
    });
}

#[test]
fn results_that_contradict_are_named_and_never_changed() {
    run(async {
        let (house, id) = selling().await;
        house.by_hand("UPDATE records SET state = 2, reason = 'discarded' WHERE user_id = 'b'");
        check(&house, id, DifferenceKind::ResultDiffers, Some("b"), false).await;
        let state = house
            .store
            .buyer(id, &user("b"))
            .await
            .expect("read")
            .expect("a buyer")
            .state;
        assert_eq!(state, TicketState::Succeeded);
    });
}
