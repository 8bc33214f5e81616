//! Facts about tickets that could not be written.

use seckill_sale::{ActivityId, Delivery, Epoch, FailureReason};

use super::books;
use super::shop::{NOW, at, deliveries, delivery, sale, settle, sold, ticket, user, whole};
use crate::{Conflict, DeadLetter, DeadLetterState, Error, Ledger, Parking, RecordState, TicketResult};

pub(super) async fn park(ledger: &dyn Ledger, delivery: Delivery) -> DeadLetter {
    let ticket = delivery.ticket;
    let reason = "a bad row".to_owned();
    ledger
        .park(vec![Parking { delivery, reason }], NOW)
        .await
        .expect("parked");
    let letter = ledger.dead_letter_of(ticket).await.expect("readable");
    letter.expect("its letter")
}

/// With what an operator needs to decide.
pub async fn a_parked_ticket_is_shown_and_keeps_its_units(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let parked = Delivery {
        attempts: 5,
        ..delivery(activity.id, 3, "ann", 2)
    };
    let letter = park(ledger, parked.clone()).await;
    assert_eq!(
        (letter.ticket, &letter.user, letter.quantity),
        (parked.ticket, &parked.user, parked.quantity)
    );
    assert_eq!((&letter.request_id, letter.attempts), (&parked.request_id, 5));
    assert_eq!((letter.reason.as_str(), letter.parked_at), ("a bad row", NOW));
    assert_eq!((letter.state, letter.unit_to), (DeadLetterState::Parked, None));
    assert_eq!(ledger.dead_letter(letter.id).await, Ok(letter.clone()));
    let second = park(ledger, delivery(activity.id, 4, "bob", 1)).await;
    let listed = ledger.dead_letters(whole()).await.expect("letters");
    assert_eq!(listed.rows, [second, letter]);
    assert_eq!(ledger.parked_count().await, Ok(2));
    let record = ledger
        .record(activity.id, &user("ann"))
        .await
        .expect("readable")
        .expect("a record");
    assert_eq!(
        (record.state, record.parked_reason.as_str()),
        (RecordState::Parked, "a bad row")
    );
    let tally = ledger.tally(activity.id).await.expect("the tally");
    assert_eq!((tally.available, tally.dead), (10, 3));
}

/// The worker may have died between parking and saying so.
pub async fn parking_twice_is_once(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let first = park(ledger, delivery(activity.id, 1, "ann", 2)).await;
    assert_eq!(park(ledger, delivery(activity.id, 1, "ann", 2)).await, first);
    assert_eq!(ledger.parked_count().await, Ok(1));
}

/// A result that was told never flips.
pub async fn a_settled_ticket_is_not_parked(ledger: &dyn Ledger) {
    let activity = sold(ledger, 1, 2).await;
    let tickets = deliveries(activity.id, 2).into_iter();
    let parkings = tickets.map(|delivery| Parking {
        delivery,
        reason: "late".to_owned(),
    });
    ledger.park(parkings.collect(), NOW).await.expect("left as they are");
    assert_eq!(ledger.parked_count().await, Ok(0));
    let states: Vec<_> = books::all_records(ledger, activity.id)
        .await
        .iter()
        .map(|record| record.state)
        .collect();
    assert_eq!(
        states,
        [
            RecordState::Succeeded,
            RecordState::Failed(FailureReason::StoreOversold)
        ]
    );
}

/// Its record of state 0 is gone with the retry, so that nothing is left of the parking but the letter.
pub async fn a_retried_ticket_settles_and_retrying_twice_is_once(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let parked = delivery(activity.id, 1, "ann", 2);
    let letter = park(ledger, parked.clone()).await;
    let retried = ledger.retry_dead_letter(letter.id, at(NOW)).await.expect("parked");
    assert_eq!(retried.state, DeadLetterState::Retried);
    assert_eq!(ledger.record(activity.id, &parked.user).await, Ok(None));
    assert_eq!(ledger.retry_dead_letter(letter.id, at(NOW)).await, Ok(retried.clone()));
    assert_eq!(ledger.parked_count().await, Ok(0));
    let settled = settle(ledger, activity.id, vec![parked.clone()]).await;
    assert_eq!(settled.results, [TicketResult::Succeeded]);
    assert_eq!(ledger.retry_dead_letter(letter.id, at(NOW)).await, Ok(retried));
    let record = ledger
        .record(activity.id, &parked.user)
        .await
        .expect("readable")
        .expect("a record");
    assert_eq!(record.state, RecordState::Succeeded);
}

/// As a new letter; the older one stays as it ended.
pub async fn a_retried_ticket_may_be_parked_anew(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let parked = delivery(activity.id, 1, "ann", 2);
    let first = park(ledger, parked.clone()).await;
    ledger.retry_dead_letter(first.id, at(NOW)).await.expect("parked");
    let second = park(ledger, parked).await;
    assert!(first.id < second.id);
    let older = ledger.dead_letter(first.id).await.expect("the older letter");
    assert_eq!(
        (older.state, second.state),
        (DeadLetterState::Retried, DeadLetterState::Parked)
    );
    assert_eq!(ledger.parked_count().await, Ok(1));
}

/// Somebody has to see it; there is no unit to return.
pub async fn a_ticket_of_an_unknown_activity_is_parked(ledger: &dyn Ledger) {
    let unknown = ActivityId::new(99).expect("in range");
    let parking = Parking {
        delivery: delivery(unknown, 1, "ann", 1),
        reason: "unknown".to_owned(),
    };
    ledger.park_of(Epoch::FIRST, vec![parking], NOW).await.expect("parked");
    let letter = park(ledger, delivery(unknown, 1, "ann", 1)).await;
    assert_eq!(
        (letter.ticket, letter.state),
        (ticket(unknown, 1), DeadLetterState::Parked)
    );
    let discarded = ledger
        .discard_dead_letter(letter.id, "unknown".to_owned(), at(NOW))
        .await;
    assert_eq!(discarded.map(|letter| letter.unit_to), Ok(None));
}

/// Also where no record can say it.
pub async fn a_ticket_out_of_range_is_parked(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    for (sequence, buyer) in [(0, "ann"), (u64::MAX, "bob")] {
        let letter = park(ledger, delivery(activity.id, sequence, buyer, 1)).await;
        assert_eq!(letter.ticket, ticket(activity.id, sequence));
        let again = park(ledger, delivery(activity.id, sequence, buyer, 1)).await;
        assert_eq!(again, letter);
    }
    assert_eq!(ledger.parked_count().await, Ok(2));
    let letter = park(ledger, delivery(activity.id, 0, "ann", 1)).await;
    let discarded = ledger.discard_dead_letter(letter.id, "bad".to_owned(), at(NOW)).await;
    let discarded = discarded.expect("parked");
    assert_eq!(discarded.unit_to, None);
    assert_eq!(park(ledger, delivery(activity.id, 0, "ann", 1)).await, discarded);
}

/// A slow worker settled it after another one had given it up.
pub async fn a_parked_ticket_that_settles_after_all_leaves_the_list(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let parked = delivery(activity.id, 1, "ann", 2);
    let letter = park(ledger, parked.clone()).await;
    let settled = settle(ledger, activity.id, vec![parked]).await;
    assert_eq!(
        (settled.results, settled.orders_written),
        (vec![TicketResult::Succeeded], 1)
    );
    assert_eq!(ledger.parked_count().await, Ok(0));
    let late = ledger.discard_dead_letter(letter.id, "bad".to_owned(), at(NOW)).await;
    assert_eq!(late.map(drop), Err(Error::Conflict(Conflict::Resolved)));
}
