//! Paying and expiring: an order ends once, late money goes back, and a sweep of many keeps its pace and size.

use std::sync::Arc;

use seckill_flow::{BATCHES_A_SWEEP, ORDERS_A_BATCH};
use seckill_ledger::{Orders, PaidOutcome, Payment, SettleBatch, Settlement};
use seckill_sale::{
    ActivityId, Currency, Delivery, Epoch, OrderNo, OrderState, Quantity, RequestId, RequestKey, Ticket, UserId,
};

use crate::house::{House, PAY_WITHIN_MS, run, user};

async fn ordered(house: &House, name: &str) -> (ActivityId, OrderNo) {
    let id = house.opened(1).await;
    let ticket = house.claim(id, name, 1).await.expect("bought").ticket;
    house.settle().await;
    (id, ticket.order_no())
}

#[test]
fn sandbox_payment_costs_what_the_order_says_and_only_its_buyer_pays() {
    run(async {
        let house = House::new();
        let (_, order_no) = ordered(&house, "a").await;
        let now = house.clock_now();
        assert!(house.operator.pay_in_sandbox(order_no, user("b"), now).await.is_err());
        for _ in 0..2 {
            let paid = house
                .operator
                .pay_in_sandbox(order_no, user("a"), now)
                .await
                .expect("paid");
            let PaidOutcome::Paid(order) = paid else {
                panic!("{paid:?}")
            };
            assert_eq!((order.state, order.amount_cents), (OrderState::Paid, 1_000));
        }
        assert_eq!(house.ledger.refunds_required().await, Ok(0));
    });
}

#[test]
fn money_at_the_deadline_is_too_late_and_in_time_wins_over_the_sweep() {
    run(async {
        let house = House::new();
        let payment = |order_no| Payment {
            id: format!("p-{order_no}"),
            order_no,
            user: None,
            amount_cents: 1_000,
            currency: Currency::new("CNY").expect("three capitals"),
            received_at: house.clock_now(),
        };
        let (in_time, order_in_time) = ordered(&house, "a").await;
        let (late, late_order) = ordered(&house, "b").await;
        house.clock.advance(PAY_WITHIN_MS - 1);
        let paid = house.operator.pay(payment(order_in_time)).await.expect("paid");
        assert!(matches!(paid, PaidOutcome::Paid(_)), "{paid:?}");
        house.clock.advance(1);
        let refund = house.operator.pay(payment(late_order)).await.expect("recorded");
        assert!(matches!(refund, PaidOutcome::RefundRequired(_)), "{refund:?}");
        assert_eq!(house.operator.sweep(house.clock_now()).await.expect("swept").orders, 0);
        let (in_time, late) = (house.balanced(in_time).await, house.balanced(late).await);
        assert_eq!((in_time.orders_live, late.orders_live, late.returned), (1, 0, 1));
        assert_eq!(house.ledger.refunds_required().await, Ok(1));
    });
}

/// Orders of a whole sweep and a bit, written past the store: only the ledger matters here.
async fn many_orders(house: &House, id: ActivityId, count: u64) {
    let delivery = |sequence: u64| Delivery {
        ticket: Ticket {
            activity: id,
            epoch: Epoch::FIRST,
            sequence,
        },
        user: UserId::new(&format!("u{sequence}")).expect("valid"),
        quantity: Quantity::ONE,
        key: RequestKey([0; 16]),
        accepted_at: house.clock_now(),
        request_id: RequestId::from_bits(sequence),
        attempts: 0,
        deliveries: 1,
    };
    let batch = SettleBatch {
        created_at: None,
        activity: id,
        tickets: (1..=count).map(delivery).collect(),
        now: house.clock_now(),
        pay_within_ms: PAY_WITHIN_MS,
    };
    assert_eq!(house.ledger.settle(batch).await.expect("settled").orders_written, count);
}

#[test]
fn sweep_is_bounded_and_says_that_more_are_due() {
    run(async {
        let house = House::new();
        let product = house.product(1_000_000).await;
        let a_sweep = u64::from(ORDERS_A_BATCH * BATCHES_A_SWEEP);
        let activity = House::new_activity(product, a_sweep + 1);
        let id = house
            .operator
            .create_activity(activity, house.context())
            .await
            .expect("created")
            .id;
        many_orders(&house, id, a_sweep + 1).await;
        house.clock.advance(PAY_WITHIN_MS);
        let swept = house.operator.sweep(house.clock_now()).await.expect("swept");
        assert_eq!((swept.orders, swept.more), (a_sweep, true));
        let swept = house.operator.sweep(house.clock_now()).await.expect("swept");
        assert_eq!((swept.orders, swept.more), (1, false));
        assert_eq!(house.product_units(id).await, 1_000_000);
    });
}

#[test]
fn two_sweeps_at_once_expire_each_order_once() {
    run(async {
        let house = House::new();
        let (id, _) = ordered(&house, "a").await;
        house.clock.advance(PAY_WITHIN_MS);
        let now = house.clock_now();
        let operator = Arc::clone(&house.operator);
        let (first, second) = tokio::join!(house.operator.sweep(now), operator.sweep(now));
        assert_eq!(first.expect("swept").orders + second.expect("swept").orders, 1);
        assert_eq!(house.balanced(id).await.returned, 1);
    });
}
