//! Facts about tickets that are delivered more than once. At least once must be as good as once.

use futures_util::future;
use seckill_sale::FailureReason;

use super::books;
use super::shop::{NOW, at, batch, deliveries, delivery, of, sale, settle, sold, stock, user, whole};
use crate::{Ledger, MovementKind, TicketResult};

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
