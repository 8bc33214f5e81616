//! Facts about batches of tickets that become orders.

use seckill_sale::{FailureReason, OrderState};

use super::books;
use super::shop::{
    DEADLINE, NOW, PRICE_CENTS, batch, close, deliveries, delivery, of, page, sale, settle, sold, ticket, user, whole,
};
use crate::{Error, Ledger, MovementKind, RecordState, Tally, TicketResult};

const OVERSOLD: TicketResult = TicketResult::Failed(FailureReason::StoreOversold);

/// Orders, records, the stock row and the movement are there at once, with price and deadline of the settlement.
pub async fn a_batch_becomes_orders_records_and_one_movement(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let tickets = vec![delivery(activity.id, 1, "ann", 1), delivery(activity.id, 2, "bob", 3)];
    let settled = settle(ledger, activity.id, tickets).await;
    assert_eq!(settled.results, [TicketResult::Succeeded; 2]);
    assert_eq!(settled.orders_written, 2);
    let order = ledger.order(ticket(activity.id, 2).order_no(), Some(user("bob"))).await;
    let order = order.expect("bob's order");
    assert_eq!((order.activity, order.product_id), (activity.id, activity.product_id));
    assert_eq!(
        (order.price, order.amount_cents),
        (activity.seckill_price, 3 * PRICE_CENTS)
    );
    assert_eq!(
        (order.currency, order.state),
        (activity.currency, OrderState::PendingPayment)
    );
    assert_eq!((order.created_at, order.pay_deadline), (NOW, DEADLINE));
    assert_eq!((order.paid_at, order.ended_at, order.refund), (None, None, None));
    let record = ledger
        .record(activity.id, &user("bob"))
        .await
        .expect("readable")
        .expect("bob's record");
    let delivered = delivery(activity.id, 2, "bob", 3);
    assert_eq!((record.ticket, record.quantity), (delivered.ticket, delivered.quantity));
    assert_eq!((record.key, record.accepted_at), (delivered.key, delivered.accepted_at));
    assert_eq!((record.state, record.has_order), (RecordState::Succeeded, true));
    let moves = books::moves(ledger, activity.id).await;
    assert_eq!(moves, [(MovementKind::Created, 10), (MovementKind::Settled, 4)]);
    let tally = Tally {
        stock_total: 10,
        available: 6,
        succeeded: 4,
        orders_live: 4,
        ..Tally::default()
    };
    assert_eq!(ledger.tally(activity.id).await, Ok(tally));
}

/// Also where a batch does not fill the statements that it is written by.
pub async fn batches_of_every_size_are_written_whole(ledger: &dyn Ledger) {
    let activity = sale(ledger, 1_000).await;
    let mut tickets = deliveries(activity.id, 650).into_iter();
    let mut written = 0;
    for size in [0, 1, 2, 7, 8, 9, 63, 64, 65, 137, 256] {
        let settled = settle(ledger, activity.id, tickets.by_ref().take(size).collect()).await;
        assert_eq!(settled.orders_written, size as u64);
        written += size;
        let tally = ledger.tally(activity.id).await.expect("the tally");
        assert_eq!((tally.succeeded, tally.orders_live), (written as u64, written as u64));
    }
    let listed = ledger.orders(of(activity.id), whole()).await.expect("orders");
    assert_eq!(listed.rows.len(), 500);
}

/// A ticket too large for what is left does not keep a smaller one from it; what fails gets a record and no unit back.
pub async fn an_oversold_batch_settles_what_fits_oldest_first(ledger: &dyn Ledger) {
    let activity = sale(ledger, 4).await;
    let tickets = [("a", 2), ("b", 1), ("c", 2), ("d", 1), ("e", 1)];
    let tickets = tickets.into_iter().zip(1..);
    let tickets = tickets.map(|((name, units), sequence)| delivery(activity.id, sequence, name, units));
    let settled = settle(ledger, activity.id, tickets.collect()).await;
    let fits = TicketResult::Succeeded;
    assert_eq!(settled.results, [fits, fits, OVERSOLD, fits, OVERSOLD]);
    assert_eq!(settled.orders_written, 3);
    let record = ledger
        .record(activity.id, &user("c"))
        .await
        .expect("readable")
        .expect("a record");
    assert_eq!(record.state, RecordState::Failed(FailureReason::StoreOversold));
    let tally = ledger.tally(activity.id).await.expect("the tally");
    assert_eq!((tally.available, tally.succeeded, tally.failed), (0, 4, 3));
    let moves = books::moves(ledger, activity.id).await;
    assert_eq!(moves, [(MovementKind::Created, 4), (MovementKind::Settled, 4)]);
}

/// Collations that fold case or punctuation would let one of two buyers fail at the unique key.
pub async fn users_are_compared_byte_by_byte(ledger: &dyn Ledger) {
    let activity = sale(ledger, 100).await;
    let names = [
        "Alice", "alice", "ALICE", "alice.", "alice-", "alice_", "a:b", "a@b", "0", "00", "-0",
    ];
    let tickets = names
        .into_iter()
        .zip(1..)
        .map(|(name, sequence)| delivery(activity.id, sequence, name, 1));
    let settled = settle(ledger, activity.id, tickets.collect()).await;
    assert_eq!(settled.results, [TicketResult::Succeeded; 11]);
    for (name, sequence) in names.into_iter().zip(1..) {
        let record = ledger
            .record(activity.id, &user(name))
            .await
            .expect("readable")
            .expect("a record");
        assert_eq!((record.user, record.ticket.sequence), (user(name), sequence));
    }
    let absent = ledger.record(activity.id, &user("aLICE")).await;
    assert_eq!(absent, Ok(None));
}

/// The worker splits the batch and parks the row; its neighbours must not be settled twice or by half.
pub async fn a_rejected_row_leaves_nothing_of_its_batch(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    let before = ledger.tally(activity.id).await;
    let number = ledger.installation().await.expect("the installation").settled_batch;
    for sequence in [0, u64::MAX] {
        let mut tickets = deliveries(activity.id, 3);
        tickets.push(delivery(activity.id, sequence, "poison", 1));
        let refused = ledger.settle(batch(activity.id, tickets)).await;
        assert!(matches!(refused, Err(Error::Rejected(_))), "{refused:?}");
    }
    assert_eq!(ledger.tally(activity.id).await, before);
    assert_eq!(books::moves(ledger, activity.id).await.len(), 1);
    assert_eq!(
        ledger.installation().await.expect("the installation").settled_batch,
        number
    );
    let settled = settle(ledger, activity.id, deliveries(activity.id, 3)).await;
    assert_eq!(settled.orders_written, 3);
}

/// They are for the dead letters.
pub async fn tickets_of_an_unknown_activity_are_not_settled(ledger: &dyn Ledger) {
    let activity = sale(ledger, 1).await;
    let unknown = seckill_sale::ActivityId::new(activity.id.get() + 1).expect("in range");
    let refused = ledger.settle(batch(unknown, deliveries(unknown, 1))).await;
    assert_eq!(refused, Err(Error::NotFound("activity")));
}

/// What was accepted before the end gets its order after it.
pub async fn a_closed_activity_settles_what_it_accepted(ledger: &dyn Ledger) {
    let activity = sale(ledger, 5).await;
    close(ledger, activity.id).await;
    let settled = settle(ledger, activity.id, deliveries(activity.id, 2)).await;
    assert_eq!(settled.results, [TicketResult::Succeeded; 2]);
}

/// One number a committed batch, over all activities, also where it wrote nothing new.
pub async fn batches_are_counted_by_the_installation(ledger: &dyn Ledger) {
    let first = sold(ledger, 5, 1).await;
    let second = sold(ledger, 5, 1).await;
    assert_eq!(settle(ledger, first.id, deliveries(first.id, 1)).await.batch, 3);
    assert_eq!(settle(ledger, second.id, deliveries(second.id, 2)).await.batch, 4);
    let installation = ledger.installation().await.expect("the installation");
    assert_eq!(installation.settled_batch, 4);
}

/// Of this activity, whatever the order of its buyers' names; none where nothing was settled.
pub async fn the_newest_ticket_is_the_one_accepted_last(ledger: &dyn Ledger) {
    let activity = sale(ledger, 10).await;
    assert_eq!(ledger.newest_ticket(activity.id).await, Ok(None));
    let tickets = [("z", 4), ("a", 9), ("m", 7)].map(|(name, sequence)| delivery(activity.id, sequence, name, 1));
    settle(ledger, activity.id, tickets.to_vec()).await;
    sold(ledger, 20, 12).await;
    let newest = ledger.newest_ticket(activity.id).await.expect("readable");
    assert_eq!(newest, Some(delivery(activity.id, 9, "a", 1).ticket));
}

/// Each once, in pages; those asked for by name without those who have none.
pub async fn records_are_listed_by_user(ledger: &dyn Ledger) {
    let activity = sold(ledger, 10, 5).await;
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let found = ledger.records(activity.id, page(cursor, 2)).await.expect("records");
        assert!(found.rows.len() <= 2);
        seen.extend(found.rows.into_iter().map(|record| record.user));
        cursor = found.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["u1", "u2", "u3", "u4", "u5"].map(user));
    let wanted = vec![user("u4"), user("nobody"), user("u2")];
    let found = ledger.records_of(activity.id, wanted).await.expect("records");
    let mut found: Vec<_> = found.into_iter().map(|record| record.user).collect();
    found.sort();
    assert_eq!(found, [user("u2"), user("u4")]);
}
