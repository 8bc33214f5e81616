//! Facts about orders that end without money, and where their units go.

use futures_util::future;
use seckill_sale::{EpochMs, OrderState};

use super::books;
use super::shop::{
    DEADLINE, END, NOW, PAY_WITHIN_MS, PRODUCT_UNITS, batch, close, deliveries, payment, product_units, sale, sold,
    ticket, user,
};
use crate::{Conflict, Error, Ledger, MovementKind, PaidOutcome, UnitsOnCancel};

/// Whoever comes first decides; the others are told, and no unit moves twice.
pub async fn pay_cancel_and_expire_in_every_order_end_an_order_once(ledger: &dyn Ledger) {
    let orders_of_events = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for events in orders_of_events {
        let activity = sold(ledger, 5, 1).await;
        let order_no = ticket(activity.id, 1).order_no();
        let first = [OrderState::Paid, OrderState::Cancelled, OrderState::Expired][events[0]];
        for event in events {
            match event {
                0 => {
                    let money = payment(&format!("p{}", activity.id), activity.id, 1, NOW);
                    let outcome = ledger.pay(money, UnitsOnCancel::Product).await.expect("answered");
                    let paid = matches!(outcome, PaidOutcome::Paid(_));
                    assert_eq!(paid, first == OrderState::Paid, "{events:?}");
                }
                1 => {
                    let outcome = ledger.cancel(order_no, &user("u1"), NOW, UnitsOnCancel::Product).await;
                    match outcome {
                        Ok(cancelled) => assert_eq!(cancelled.order.state, OrderState::Cancelled),
                        Err(error) => assert!(matches!(error, Error::Conflict(Conflict::OrderState(_)))),
                    }
                }
                _ => {
                    let expired = ledger.expire_due(DEADLINE, 10, UnitsOnCancel::Product).await;
                    let wanted = u64::from(first == OrderState::Expired);
                    assert_eq!(expired.map(|expired| expired.orders), Ok(wanted));
                }
            }
            let order = ledger.order(order_no, None).await.expect("the order");
            assert_eq!(order.state, first, "{events:?}");
        }
        let back = u64::from(first != OrderState::Paid);
        assert_eq!(product_units(ledger, &activity).await, PRODUCT_UNITS - 5 + back);
    }
}

/// And gives the same order again.
pub async fn cancelling_twice_moves_its_units_once(ledger: &dyn Ledger) {
    let activity = sold(ledger, 5, 1).await;
    let order_no = ticket(activity.id, 1).order_no();
    let first = ledger
        .cancel(order_no, &user("u1"), NOW, UnitsOnCancel::Product)
        .await
        .expect("pending");
    let movement = first.movement.expect("its units moved");
    assert_eq!((movement.kind, movement.units), (MovementKind::CancelledToProduct, 1));
    assert_eq!(
        (first.order.state, first.order.ended_at),
        (OrderState::Cancelled, Some(NOW))
    );
    let again = ledger
        .cancel(order_no, &user("u1"), DEADLINE, UnitsOnCancel::Sale)
        .await
        .expect("cancelled");
    assert_eq!((again.order, again.movement), (first.order, None));
    assert_eq!(product_units(ledger, &activity).await, PRODUCT_UNITS - 5 + 1);
}

/// After the end nobody could buy them there.
pub async fn cancelled_units_go_where_the_setting_says_while_the_sale_is_open(ledger: &dyn Ledger) {
    let activity = sold(ledger, 5, 4).await;
    let cancel = async |sequence, now, on_cancel| {
        let buyer = user(&format!("u{sequence}"));
        let done = ledger
            .cancel(ticket(activity.id, sequence).order_no(), &buyer, now, on_cancel)
            .await;
        done.expect("pending").movement.expect("its units moved").kind
    };
    assert_eq!(
        cancel(1, NOW, UnitsOnCancel::Product).await,
        MovementKind::CancelledToProduct
    );
    assert_eq!(cancel(2, NOW, UnitsOnCancel::Sale).await, MovementKind::CancelledToSale);
    assert_eq!(
        cancel(3, END, UnitsOnCancel::Sale).await,
        MovementKind::CancelledToProduct
    );
    close(ledger, activity.id).await;
    assert_eq!(
        cancel(4, NOW, UnitsOnCancel::Sale).await,
        MovementKind::CancelledToProduct
    );
    let tally = ledger.tally(activity.id).await.expect("the tally");
    assert_eq!((tally.available, tally.returned, tally.orders_cancelled), (2, 3, 4));
}

/// So that a backlog of any size goes in steps of the same size.
pub async fn expiry_takes_the_oldest_deadlines_up_to_its_limit(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    for (earlier_ms, ticket) in (0..).zip(deliveries(activity.id, 6)) {
        let mut batch = batch(activity.id, vec![ticket]);
        // The later a ticket, the earlier its deadline.
        batch.pay_within_ms = PAY_WITHIN_MS - earlier_ms;
        ledger.settle(batch).await.expect("a good batch");
    }
    assert_eq!(ledger.next_deadline().await, Ok(Some(EpochMs(DEADLINE.0 - 5))));
    let early = ledger
        .expire_due(EpochMs(DEADLINE.0 - 6), 10, UnitsOnCancel::Product)
        .await;
    assert_eq!(
        early.map(|expired| (expired.orders, expired.movements.len())),
        Ok((0, 0))
    );
    let some = ledger
        .expire_due(EpochMs(DEADLINE.0 - 2), 3, UnitsOnCancel::Product)
        .await;
    assert_eq!(some.map(|expired| expired.orders), Ok(3));
    assert_eq!(ledger.next_deadline().await, Ok(Some(EpochMs(DEADLINE.0 - 2))));
    let rest = ledger
        .expire_due(EpochMs(DEADLINE.0 - 2), 3, UnitsOnCancel::Product)
        .await;
    assert_eq!(rest.map(|expired| expired.orders), Ok(1));
    let order = ledger
        .order(ticket(activity.id, 2).order_no(), None)
        .await
        .expect("the order");
    assert_eq!(order.state, OrderState::PendingPayment);
    let order = ledger
        .order(ticket(activity.id, 3).order_no(), None)
        .await
        .expect("the order");
    assert_eq!(
        (order.state, order.ended_at),
        (OrderState::Expired, Some(EpochMs(DEADLINE.0 - 2)))
    );
}

/// One movement an activity, with the units of all its orders.
pub async fn expiry_moves_units_once_for_each_activity(ledger: &dyn Ledger) {
    let (first, second) = (sold(ledger, 5, 3).await, sold(ledger, 5, 2).await);
    close(ledger, second.id).await;
    let expired = ledger
        .expire_due(DEADLINE, 100, UnitsOnCancel::Sale)
        .await
        .expect("expired");
    assert_eq!(expired.orders, 5);
    let mut moved: Vec<_> = expired
        .movements
        .iter()
        .map(|m| (m.activity, m.kind, m.units))
        .collect();
    moved.sort_by_key(|&(activity, ..)| activity);
    let expected = [
        (first.id, MovementKind::CancelledToSale, 3),
        (second.id, MovementKind::CancelledToProduct, 2),
    ];
    assert_eq!(moved, expected);
    let again = ledger
        .expire_due(DEADLINE, 100, UnitsOnCancel::Sale)
        .await
        .expect("nothing is due");
    assert_eq!((again.orders, again.movements.len()), (0, 0));
    assert_eq!(product_units(ledger, &second).await, PRODUCT_UNITS - 5 + 2);
    assert_eq!(books::moves(ledger, first.id).await.len(), 3);
}

/// The job may run on two nodes.
pub async fn two_expiries_at_once_expire_each_order_once(ledger: &dyn Ledger) {
    let activity = sold(ledger, 50, 50).await;
    let sweeps = (0..4).map(|_| ledger.expire_due(DEADLINE, 20, UnitsOnCancel::Product));
    let expired = future::join_all(sweeps).await;
    let orders: u64 = expired.iter().flatten().map(|expired| expired.orders).sum();
    assert_eq!((expired.iter().flatten().count(), orders), (4, 50));
    assert_eq!(product_units(ledger, &activity).await, PRODUCT_UNITS);
}
