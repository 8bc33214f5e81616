//! Facts about orders that are read.

use seckill_sale::OrderState;

use super::shop::{NOW, of, page, payment, sold, ticket, user, whole};
use crate::{Error, Ledger, OrderFilter, Payment, UnitsOnCancel};

/// Nobody learns by asking whether a number exists.
pub async fn an_order_of_another_user_is_no_order(ledger: &dyn Ledger) {
    let activity = sold(ledger, 5, 1).await;
    let order_no = ticket(activity.id, 1).order_no();
    let none = Err(Error::NotFound("order"));
    assert_eq!(ledger.order(order_no, Some(user("U1"))).await.map(drop), none);
    let stranger = Payment {
        user: Some(user("U1")),
        ..payment("p", activity.id, 1, NOW)
    };
    assert_eq!(ledger.pay(stranger, UnitsOnCancel::Product).await.map(drop), none);
    let cancelled = ledger.cancel(order_no, &user("U1"), NOW, UnitsOnCancel::Product).await;
    assert_eq!(cancelled.map(drop), none);
    let order = ledger.order(order_no, Some(user("u1"))).await.expect("his order");
    assert_eq!((order.state, order.user), (OrderState::PendingPayment, user("u1")));
}

/// All of them, an activity's, a user's, or both.
pub async fn orders_are_listed_newest_first(ledger: &dyn Ledger) {
    let (first, second) = (sold(ledger, 5, 3).await, sold(ledger, 5, 2).await);
    let numbers = async |filter: OrderFilter, limit: u32| {
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let found = ledger
                .orders(filter.clone(), page(cursor, limit))
                .await
                .expect("orders");
            seen.extend(
                found
                    .rows
                    .into_iter()
                    .map(|order| (order.activity, order.order_no.ticket().sequence)),
            );
            cursor = found.next;
            if cursor.is_none() {
                return seen;
            }
        }
    };
    let (a, b) = (first.id, second.id);
    let all = [(b, 2), (b, 1), (a, 3), (a, 2), (a, 1)];
    for limit in [1, 2, 5, 6, whole().limit] {
        assert_eq!(numbers(OrderFilter::default(), limit).await, all);
    }
    assert_eq!(numbers(of(a), 2).await, all[2..]);
    let u2 = OrderFilter {
        user: Some(user("u2")),
        activity: None,
    };
    assert_eq!(numbers(u2.clone(), 1).await, [(b, 2), (a, 2)]);
    assert_eq!(
        numbers(
            OrderFilter {
                activity: Some(a),
                ..u2
            },
            9
        )
        .await,
        [(a, 2)]
    );
}
