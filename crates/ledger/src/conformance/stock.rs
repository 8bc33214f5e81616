//! Facts about units between product and sale.

use super::books;
use super::shop::{
    NOW, PRODUCT_UNITS, at, close, deliveries, delivery, keyed, new_activity, product_units, sale, settle, sold, stock,
};
use crate::{Conflict, Error, Ledger, MovementKind, Parking, UnitsOnCancel};

/// They are the sale's from the start; the product keeps the rest.
pub async fn creating_an_activity_takes_its_units_from_the_product(ledger: &dyn Ledger) {
    let activity = sale(ledger, 300).await;
    assert_eq!(activity.stock_total, 300);
    assert_eq!(product_units(ledger, &activity).await, PRODUCT_UNITS - 300);
    let moves = books::moves(ledger, activity.id).await;
    assert_eq!(moves, [(MovementKind::Created, 300)]);
}

/// A second sale can't take what the first one holds.
pub async fn a_short_product_refuses_and_keeps_its_units(ledger: &dyn Ledger) {
    let activity = sale(ledger, PRODUCT_UNITS - 10).await;
    let short = Err(Error::Conflict(Conflict::ProductShort {
        available: 10,
        wanted: 11,
    }));
    let second = ledger
        .create_activity(new_activity(activity.product_id, 11), at(NOW))
        .await;
    assert_eq!(second.map(drop), short);
    let more = ledger.add_stock(activity.id, stock(11), at(NOW)).await;
    assert_eq!(more.map(drop), short.clone());
    assert_eq!(product_units(ledger, &activity).await, 10);
    let all = ledger.add_stock(activity.id, stock(10), at(NOW)).await;
    assert_eq!(all.map(|movement| movement.units), Ok(10));
    assert_eq!(product_units(ledger, &activity).await, 0);
}

/// The operator's client sends its request again after a lost answer.
pub async fn added_stock_counts_once_for_its_key(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let first = ledger.add_stock(activity.id, stock(5), keyed("add", 1)).await;
    let first = first.expect("the product has more");
    assert_eq!((first.kind, first.units), (MovementKind::Added, 5));
    let again = ledger.add_stock(activity.id, stock(5), keyed("add", 1)).await;
    assert_eq!(again, Ok(first));
    let other = ledger.add_stock(activity.id, stock(6), keyed("add", 2)).await;
    assert_eq!(other, Err(Error::KeyReused));
    let after = ledger.activity(activity.id).await.expect("the activity");
    assert_eq!(after.stock_total, 15);
    assert!(activity.version < after.version);
    assert_eq!(product_units(ledger, &activity).await, PRODUCT_UNITS - 15);
}

/// It would never be sold.
pub async fn a_closed_activity_takes_no_stock(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    close(ledger, activity.id).await;
    let refused = ledger.add_stock(activity.id, stock(5), at(NOW)).await;
    assert_eq!(refused, Err(Error::Conflict(Conflict::Closed)));
    assert_eq!(product_units(ledger, &activity).await, PRODUCT_UNITS - 10);
}

/// Whoever asks again gets the first movement.
pub async fn unsold_units_return_once_and_only_after_closing(ledger: &dyn Ledger) {
    let activity = sold(ledger, 10, 3).await;
    let early = ledger.return_unsold(activity.id, 7, at(NOW)).await;
    assert_eq!(early, Err(Error::Conflict(Conflict::Unsettled)));
    close(ledger, activity.id).await;
    let too_many = ledger.return_unsold(activity.id, 8, at(NOW)).await;
    assert_eq!(too_many, Err(Error::Conflict(Conflict::Unsettled)));
    let first = ledger.return_unsold(activity.id, 7, at(NOW)).await.expect("closed");
    assert_eq!(
        (first.kind, first.units, first.store_delta()),
        (MovementKind::UnsoldReturned, 7, -7)
    );
    for units in [7, 1] {
        let again = ledger.return_unsold(activity.id, units, keyed("again", 1)).await;
        assert_eq!(again, Ok(first.clone()));
    }
    assert_eq!(product_units(ledger, &activity).await, PRODUCT_UNITS - 3);
    let tally = ledger.tally(activity.id).await.expect("the tally");
    assert_eq!((tally.available, tally.returned), (0, 7));
    assert_eq!(tally.last_store_movement, first.id);
}

/// A dead letter keeps its unit until somebody decides.
pub async fn units_of_parked_tickets_are_not_unsold(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let parking = Parking {
        delivery: delivery(activity.id, 1, "ann", 4),
        reason: "a bad row".to_owned(),
    };
    ledger.park(vec![parking], NOW).await.expect("parked");
    close(ledger, activity.id).await;
    let refused = ledger.return_unsold(activity.id, 7, at(NOW)).await;
    assert_eq!(refused, Err(Error::Conflict(Conflict::Unsettled)));
    let returned = ledger.return_unsold(activity.id, 6, at(NOW)).await;
    assert_eq!(returned.map(|movement| movement.units), Ok(6));
}

/// So that closing is the same whether something is left or not.
pub async fn a_sold_out_sale_returns_nothing_once(ledger: &dyn Ledger) {
    let activity = sold(ledger, 3, 3).await;
    close(ledger, activity.id).await;
    let first = ledger.return_unsold(activity.id, 0, at(NOW)).await.expect("closed");
    assert_eq!((first.units, first.store_delta()), (0, 0));
    assert_eq!(ledger.return_unsold(activity.id, 0, at(NOW)).await, Ok(first));
}

/// What it did itself, or what never was the sale's, it must not apply.
pub async fn the_store_is_told_of_its_movements_alone(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    settle(ledger, activity.id, deliveries(activity.id, 2)).await;
    let added = ledger.add_stock(activity.id, stock(5), at(NOW)).await.expect("added");
    for (sequence, on_cancel) in [(1, UnitsOnCancel::Product), (2, UnitsOnCancel::Sale)] {
        let buyer = &deliveries(activity.id, 2)[sequence - 1];
        let cancelled = ledger
            .cancel(buyer.ticket.order_no(), &buyer.user, NOW, on_cancel)
            .await;
        assert!(cancelled.expect("pending").movement.is_some());
    }
    close(ledger, activity.id).await;
    ledger.return_unsold(activity.id, 14, at(NOW)).await.expect("closed");
    let told = ledger.store_movements(activity.id, 0).await.expect("movements");
    let deltas: Vec<_> = told.iter().map(crate::Movement::store_delta).collect();
    assert_eq!(deltas, [5, 1, -14]);
    let later = ledger.store_movements(activity.id, added.id).await.expect("movements");
    assert_eq!(later, told[1..]);
}
