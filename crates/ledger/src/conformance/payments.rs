//! Facts about money that arrived for orders.

use seckill_sale::{EpochMs, OrderState, Refund, RefundState};

use super::shop::{DEADLINE, NOW, PRICE_CENTS, PRODUCT_UNITS, currency, payment, product_units, sold, ticket, user};
use crate::{Conflict, Error, Ledger, PaidOutcome, Payment, UnitsOnCancel};

const REFUND: Option<Refund> = Some(Refund {
    state: RefundState::Required,
    amount_cents: PRICE_CENTS,
});

/// The provider sends its message until it is answered.
pub async fn the_same_payment_twice_pays_once(ledger: &dyn Ledger) {
    let activity = sold(ledger, 5, 1).await;
    let money = payment("p1", activity.id, 1, EpochMs(DEADLINE.0 - 1));
    let first = ledger
        .pay(money.clone(), UnitsOnCancel::Product)
        .await
        .expect("in time");
    let PaidOutcome::Paid(order) = &first else {
        panic!("{first:?}")
    };
    assert_eq!(
        (order.state, order.paid_at),
        (OrderState::Paid, Some(money.received_at))
    );
    let late = Payment {
        received_at: EpochMs(DEADLINE.0 + 5),
        ..money
    };
    assert_eq!(ledger.pay(late, UnitsOnCancel::Product).await, Ok(first));
    assert_eq!(ledger.refunds_required().await, Ok(0));
    assert_eq!(ledger.next_deadline().await, Ok(None));
}

/// Once, however often it is told.
pub async fn a_second_payment_must_go_back(ledger: &dyn Ledger) {
    let activity = sold(ledger, 5, 1).await;
    let paid = ledger
        .pay(payment("p1", activity.id, 1, NOW), UnitsOnCancel::Product)
        .await;
    assert!(matches!(paid, Ok(PaidOutcome::Paid(_))), "{paid:?}");
    for _ in 0..2 {
        let second = ledger
            .pay(payment("p2", activity.id, 1, NOW), UnitsOnCancel::Product)
            .await;
        let Ok(PaidOutcome::RefundRequired(order)) = second else {
            panic!("{second:?}")
        };
        assert_eq!((order.state, order.refund), (OrderState::Paid, REFUND));
    }
    assert_eq!(ledger.refunds_required().await, Ok(1));
}

/// Neither too little nor too much nor in another currency.
pub async fn money_that_does_not_fit_changes_nothing(ledger: &dyn Ledger) {
    let activity = sold(ledger, 5, 1).await;
    let right = payment("p1", activity.id, 1, NOW);
    let wrong = [
        Payment {
            amount_cents: PRICE_CENTS - 1,
            ..right.clone()
        },
        Payment {
            amount_cents: u64::MAX,
            ..right.clone()
        },
        Payment {
            currency: currency("USD"),
            ..right.clone()
        },
    ];
    for money in wrong {
        let refused = ledger.pay(money, UnitsOnCancel::Product).await;
        assert!(
            matches!(refused, Err(Error::Conflict(Conflict::Payment(_)))),
            "{refused:?}"
        );
    }
    let paid = ledger.pay(right, UnitsOnCancel::Product).await;
    assert!(matches!(paid, Ok(PaidOutcome::Paid(_))), "{paid:?}");
}

/// The same id for another order is a mistake that must not pay either.
pub async fn a_payment_id_is_good_for_one_order(ledger: &dyn Ledger) {
    let activity = sold(ledger, 5, 2).await;
    ledger
        .pay(payment("p1", activity.id, 1, NOW), UnitsOnCancel::Product)
        .await
        .expect("paid");
    let refused = ledger
        .pay(payment("p1", activity.id, 2, NOW), UnitsOnCancel::Product)
        .await;
    assert!(
        matches!(refused, Err(Error::Conflict(Conflict::Payment(_)))),
        "{refused:?}"
    );
    let second = ledger
        .order(ticket(activity.id, 2).order_no(), None)
        .await
        .expect("an order");
    assert_eq!(second.state, OrderState::PendingPayment);
}

/// The deadline's own millisecond is past it; the order expires with the message, before anybody swept.
pub async fn money_at_the_deadline_is_late(ledger: &dyn Ledger) {
    let activity = sold(ledger, 5, 1).await;
    for _ in 0..2 {
        let late = ledger
            .pay(payment("p1", activity.id, 1, DEADLINE), UnitsOnCancel::Product)
            .await;
        let Ok(PaidOutcome::RefundRequired(order)) = late else {
            panic!("{late:?}")
        };
        assert_eq!((order.state, order.refund), (OrderState::Expired, REFUND));
        assert_eq!((order.paid_at, order.ended_at), (None, Some(DEADLINE)));
    }
    assert_eq!(ledger.refunds_required().await, Ok(1));
    assert_eq!(product_units(ledger, &activity).await, PRODUCT_UNITS - 5 + 1);
}

/// Its unit may be sold already.
pub async fn late_money_never_reopens_an_order(ledger: &dyn Ledger) {
    let activity = sold(ledger, 5, 2).await;
    let (order_no, buyer) = (ticket(activity.id, 1).order_no(), user("u1"));
    let cancelled = ledger.cancel(order_no, &buyer, NOW, UnitsOnCancel::Product).await;
    cancelled.expect("pending");
    ledger
        .expire_due(DEADLINE, 10, UnitsOnCancel::Product)
        .await
        .expect("expired");
    for (sequence, state) in [(1, OrderState::Cancelled), (2, OrderState::Expired)] {
        let id = format!("p{sequence}");
        // Even money that set out in time.
        let late = ledger
            .pay(payment(&id, activity.id, sequence, NOW), UnitsOnCancel::Product)
            .await;
        let Ok(PaidOutcome::RefundRequired(order)) = late else {
            panic!("{late:?}")
        };
        assert_eq!((order.state, order.refund, order.paid_at), (state, REFUND, None));
    }
    assert_eq!(ledger.refunds_required().await, Ok(2));
    assert_eq!(product_units(ledger, &activity).await, PRODUCT_UNITS - 5 + 2);
}
