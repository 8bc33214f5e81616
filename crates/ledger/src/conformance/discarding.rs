//! Facts about parked tickets that an operator gives up for good.

use seckill_sale::{FailureReason, UnitTo};

use super::books;
use super::dead_letters::park;
use super::shop::{END, NOW, PRODUCT_UNITS, at, deliveries, delivery, product_units, sale, settle};
use crate::{Conflict, DeadLetterState, Error, Ledger, MovementKind, TicketResult};

/// To the sale while it is open: they never left its row, the store alone had taken them.
pub async fn discarding_twice_returns_units_once(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let letter = park(ledger, delivery(activity.id, 1, "ann", 2)).await;
    let discarded = ledger
        .discard_dead_letter(letter.id, "no such street".to_owned(), at(NOW))
        .await;
    let discarded = discarded.expect("parked");
    assert_eq!(
        (discarded.state, discarded.unit_to),
        (DeadLetterState::Discarded, Some(UnitTo::Sale))
    );
    assert_eq!(discarded.discard_reason.as_deref(), Some("no such street"));
    let again = ledger.discard_dead_letter(letter.id, "again".to_owned(), at(END)).await;
    assert_eq!(again, Ok(discarded));
    let moves = books::moves(ledger, activity.id).await;
    assert_eq!(moves, [(MovementKind::Created, 10), (MovementKind::FailedToSale, 2)]);
    let tally = ledger.tally(activity.id).await.expect("the tally");
    assert_eq!((tally.available, tally.dead, tally.failed), (10, 0, 2));
}

/// Where they can be sold again.
pub async fn units_of_a_discarded_ticket_go_to_the_product_after_the_end(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let letter = park(ledger, delivery(activity.id, 1, "ann", 2)).await;
    let discarded = ledger.discard_dead_letter(letter.id, "over".to_owned(), at(END)).await;
    assert_eq!(discarded.map(|letter| letter.unit_to), Ok(Some(UnitTo::Product)));
    assert_eq!(product_units(ledger, &activity).await, PRODUCT_UNITS - 10 + 2);
    let tally = ledger.tally(activity.id).await.expect("the tally");
    assert_eq!((tally.available, tally.returned), (8, 2));
}

/// The operator's second thought comes too late.
pub async fn a_resolved_letter_stays_resolved(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let retried = park(ledger, delivery(activity.id, 1, "ann", 1)).await.id;
    let discarded = park(ledger, delivery(activity.id, 2, "bob", 1)).await.id;
    ledger.retry_dead_letter(retried, at(NOW)).await.expect("parked");
    ledger
        .discard_dead_letter(discarded, "bad".to_owned(), at(NOW))
        .await
        .expect("parked");
    let resolved = Err(Error::Conflict(Conflict::Resolved));
    let late = ledger.discard_dead_letter(retried, "bad".to_owned(), at(NOW)).await;
    assert_eq!(late.map(drop), resolved);
    assert_eq!(ledger.retry_dead_letter(discarded, at(NOW)).await.map(drop), resolved);
}

/// Neither settled nor parked again.
pub async fn a_discarded_ticket_stays_failed_when_it_is_delivered_again(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let parked = delivery(activity.id, 1, "ann", 1);
    let letter = park(ledger, parked.clone()).await;
    let discarded = ledger
        .discard_dead_letter(letter.id, "bad".to_owned(), at(NOW))
        .await
        .expect("parked");
    let settled = settle(ledger, activity.id, vec![parked.clone()]).await;
    assert_eq!(settled.results, [TicketResult::Failed(FailureReason::Discarded)]);
    assert_eq!(park(ledger, parked).await, discarded);
}

/// A store that had lost state gave out more than there was.
pub async fn a_discarded_ticket_without_a_unit_returns_none(ledger: &dyn Ledger) {
    let activity = sale(ledger, 2).await;
    let letter = park(ledger, delivery(activity.id, 9, "ann", 1)).await;
    settle(ledger, activity.id, deliveries(activity.id, 2)).await;
    let discarded = ledger.discard_dead_letter(letter.id, "bad".to_owned(), at(NOW)).await;
    assert_eq!(discarded.map(|letter| letter.unit_to), Ok(None));
}
