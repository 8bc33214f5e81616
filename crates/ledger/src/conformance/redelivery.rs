//! Facts about tickets that are delivered more than once. At least once must be as good as once.

use futures_util::future;
use seckill_sale::{EpochMs, FailureReason};

use super::books;
use super::shop::{NOW, at, batch, deliveries, delivery, of, sale, settle, sold, stock, user, whole};
use crate::{Conflict, Ledger, MovementKind, Parking, SettleBatch, TicketResult};

/// In batches that overlap, backwards, and twice in one batch.
pub async fn redelivery_in_any_order_changes_nothing(ledger: &dyn Ledger) {
    let activity = sale(ledger, 4).await;
    let tickets = deliveries(activity.id, 6);
    let first = settle(ledger, activity.id, tickets.clone()).await.results;
    let orders = ledger.orders(of(activity.id), whole()).await;
    let records = books::all_records(ledger, activity.id).await;
    let tally = ledger.tally(activity.id).await;
    let order_of_delivery = [
        vec![5, 0],
        vec![3, 2, 1],
        vec![0, 1, 2, 3, 4, 5],
        vec![4, 4, 0, 0],
        vec![2],
    ];
    for places in order_of_delivery {
        let again = places.iter().map(|&place| tickets[place].clone()).collect();
        let again = settle(ledger, activity.id, again).await;
        let expected: Vec<_> = places.iter().map(|&place| first[place]).collect();
        assert_eq!((again.results, again.orders_written), (expected, 0));
    }
    assert_eq!(ledger.orders(of(activity.id), whole()).await, orders);
    assert_eq!(books::all_records(ledger, activity.id).await, records);
    assert_eq!(ledger.tally(activity.id).await, tally);
}

/// A worker that was thought dead comes back with its batch.
pub async fn two_workers_with_the_same_tickets_write_each_once(ledger: &dyn Ledger) {
    let activity = sale(ledger, 30).await;
    let tickets = deliveries(activity.id, 40);
    let batches = (0..8).map(|turn| {
        let mut mine = tickets.clone();
        mine.rotate_left(turn * 5);
        ledger.settle(batch(activity.id, mine))
    });
    let settled = future::join_all(batches).await;
    let written: u64 = settled.iter().flatten().map(|settled| settled.orders_written).sum();
    assert_eq!((settled.iter().flatten().count(), written), (8, 30));
    let moves = books::moves(ledger, activity.id).await;
    assert_eq!(moves, [(MovementKind::Created, 30), (MovementKind::Settled, 30)]);
}

/// It can only come from a store that had forgotten him: a unit that was given out twice.
pub async fn another_ticket_of_a_buyer_fails_and_leaves_his_rows_alone(ledger: &dyn Ledger) {
    let activity = sold(ledger, 10, 1).await;
    let records = books::all_records(ledger, activity.id).await;
    let other = delivery(activity.id, 9, "u1", 2);
    let new = delivery(activity.id, 10, "u10", 1);
    let settled = settle(
        ledger,
        activity.id,
        vec![other, new.clone(), delivery(activity.id, 11, "u10", 1)],
    )
    .await;
    let oversold = TicketResult::Failed(FailureReason::StoreOversold);
    assert_eq!(settled.results, [oversold, TicketResult::Succeeded, oversold]);
    let now = books::all_records(ledger, activity.id).await;
    assert_eq!(now.len(), 2);
    assert!(now.contains(&records[0]));
    let his = ledger.record(activity.id, &new.user).await.expect("readable");
    assert_eq!(his.map(|record| record.ticket), Some(new.ticket));
}

/// A result that was told never flips.
pub async fn a_final_failure_stays_when_units_come_back(ledger: &dyn Ledger) {
    let activity = sale(ledger, 1).await;
    let tickets = deliveries(activity.id, 2);
    settle(ledger, activity.id, tickets.clone()).await;
    let added = ledger.add_stock(activity.id, stock(5), at(NOW)).await;
    added.expect("the product has more");
    let again = settle(ledger, activity.id, tickets).await;
    assert_eq!(again.results[1], TicketResult::Failed(FailureReason::StoreOversold));
    let record = ledger
        .record(activity.id, &user("u2"))
        .await
        .expect("readable")
        .expect("a record");
    assert!(!record.has_order);
}

/// Tickets that an older state of the store handed out are refused once a newer one was begun: it may have sold their units again.
pub async fn tickets_of_an_older_state_are_refused(ledger: &dyn Ledger) {
    let activity = sale(ledger, 5).await;
    let first = ledger.begin_opening(activity.id, at(NOW)).await.expect("begun").epoch;
    let tickets = deliveries(activity.id, 2);
    let settled = ledger.settle_of(first, batch(activity.id, tickets[..1].to_vec())).await;
    assert_eq!(settled.map(|settled| settled.orders_written), Ok(1));
    let present = ledger.begin_opening(activity.id, at(NOW)).await.expect("begun").epoch;
    let tally = ledger.tally(activity.id).await;
    let settled = ledger.settle_of(first, batch(activity.id, tickets.clone())).await;
    assert_eq!(settled, Err(Conflict::OlderState { present }.into()));
    let failed = ledger.fail_of(first, batch(activity.id, tickets.clone())).await;
    assert_eq!(failed, Err(Conflict::OlderState { present }.into()));
    let parking = Parking {
        delivery: tickets[1].clone(),
        reason: "a bad row".to_owned(),
    };
    let parked = ledger.park_of(first, vec![parking.clone()], NOW).await;
    assert_eq!(parked, Err(Conflict::OlderState { present }.into()));
    assert_eq!(ledger.tally(activity.id).await, tally);
    ledger.park_of(present, vec![parking], NOW).await.expect("parked");
    let settled = ledger.settle_of(present, batch(activity.id, tickets)).await;
    assert_eq!(settled.map(|settled| settled.orders_written), Ok(1));
}

/// Tickets that the state of another sale handed out, which had this number in a ledger that was lost, are no tickets of this one.
pub async fn tickets_of_another_sale_that_had_the_number_are_refused(ledger: &dyn Ledger) {
    let activity = sale(ledger, 5).await;
    let epoch = ledger.begin_opening(activity.id, at(NOW)).await.expect("begun").epoch;
    let of = |created_at: EpochMs| SettleBatch {
        created_at: Some(created_at),
        ..batch(activity.id, deliveries(activity.id, 1))
    };
    let tally = ledger.tally(activity.id).await;
    let another = of(activity.created_at.plus(-1));
    let refused = Err(Conflict::AnotherSale.into());
    assert_eq!(ledger.settle(another.clone()).await, refused);
    assert_eq!(ledger.settle_of(epoch, another.clone()).await, refused);
    assert_eq!(ledger.fail_of(epoch, another).await, refused);
    assert_eq!(ledger.tally(activity.id).await, tally);
    let settled = ledger.settle_of(epoch, of(activity.created_at)).await;
    assert_eq!(settled.map(|settled| settled.orders_written), Ok(1));
}

/// Tickets for which the store has no unit fail, and take none from those that have one.
pub async fn tickets_without_a_unit_fail_and_move_none(ledger: &dyn Ledger) {
    let activity = sold(ledger, 5, 1).await;
    let first = ledger.begin_opening(activity.id, at(NOW)).await.expect("begun").epoch;
    let moves = books::moves(ledger, activity.id).await;
    let tickets = deliveries(activity.id, 2);
    for _ in 0..2 {
        let failed = ledger
            .fail_of(first, batch(activity.id, tickets.clone()))
            .await
            .expect("a good batch");
        let oversold = TicketResult::Failed(FailureReason::StoreOversold);
        assert_eq!(failed.results, [TicketResult::Succeeded, oversold]);
    }
    let tally = ledger.tally(activity.id).await.expect("counted");
    assert_eq!((tally.available, tally.succeeded, tally.failed), (4, 1, 1));
    assert_eq!(books::moves(ledger, activity.id).await, moves);
    let again = settle(ledger, activity.id, tickets).await;
    assert_eq!(again.orders_written, 0, "a final result never flips");
}
