//! A purchase whose answer is lost.

use std::pin::pin;
use std::task::Poll;

use seckill_flow::{Purchase, Wish};
use seckill_sale::{Claim, Refusal};
use seckill_stock::Batcher;

use crate::house::{House, run};
use crate::trade::claim_of;

#[test]
fn purchase_that_is_shed_when_asked_again_is_still_of_unknown_outcome() {
    run(async {
        let house = House::new();
        let Claim {
            activity,
            user,
            quantity,
            key,
            request_id,
        } = claim_of(house.opened(1).await, "a", 1);
        let (batcher, claims) = Batcher::new(house.store.clone(), 4);
        let purchase = Purchase::new(house.store.clone(), claims);
        let mut bought = pin!(purchase.purchase(Wish {
            activity,
            user,
            quantity,
            key,
            request_id,
            challenge_met: true,
        }));
        std::future::poll_fn(|context| {
            assert!(bought.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        // The first answer is lost, and the second time the claim is refused at the door.
        drop(batcher);
        assert_eq!(bought.await, Err(Refusal::OutcomeUnknown));
    });
}
