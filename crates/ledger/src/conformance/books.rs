//! Checks the books of a ledger: whatever was done, every unit is somewhere, once.

use std::collections::HashMap;

use seckill_sale::{Activity, ActivityId};

use super::shop::page;
use crate::{Ledger, LedgerRecord, Movement, MovementKind, PageRequest, RecordState, Tally};

/// Checks every activity.
///
/// # Panics
/// Where a unit is missing or counted twice.
pub async fn check(ledger: &dyn Ledger) {
    let mut cursor = None;
    loop {
        let found = ledger.activities(page(cursor, PageRequest::LIMIT_MAX)).await;
        let found = found.expect("the activities");
        for activity in &found.rows {
            check_activity(ledger, activity).await;
        }
        cursor = found.next;
        if cursor.is_none() {
            break;
        }
    }
}

async fn check_activity(ledger: &dyn Ledger, activity: &Activity) {
    let tally = ledger.tally(activity.id).await.expect("the tally");
    let movements = all_movements(ledger, activity.id).await;
    check_movements(&tally, &movements);
    let records = all_records(ledger, activity.id).await;
    let units = |wanted: fn(RecordState) -> bool| -> u64 {
        let counted = records.iter().filter(|record| wanted(record.state));
        counted.map(|record| record.quantity.get()).sum()
    };
    assert_eq!(tally.succeeded, units(|state| state == RecordState::Succeeded));
    assert_eq!(tally.failed, units(|state| matches!(state, RecordState::Failed(_))));
    assert_eq!(tally.dead, units(|state| state == RecordState::Parked));
    for record in &records {
        let has_order = record.state == RecordState::Succeeded;
        assert_eq!(record.has_order, has_order, "{record:?}");
        let parked = record.state == RecordState::Parked;
        assert_eq!(!record.parked_reason.is_empty(), parked, "{record:?}");
    }
    assert_eq!(activity.stock_total, tally.stock_total);
}

/// Every change of the stock row has its movement, and every unit ever given is left, held by an order, or back at the product.
fn check_movements(tally: &Tally, movements: &[Movement]) {
    let mut units: HashMap<MovementKind, u64> = HashMap::new();
    for movement in movements {
        *units.entry(movement.kind).or_default() += movement.units;
    }
    let of = |kinds: &[MovementKind]| kinds.iter().filter_map(|kind| units.get(kind)).sum::<u64>();
    use MovementKind as Kind;
    assert_eq!(tally.stock_total, of(&[Kind::Created, Kind::Added]));
    assert_eq!(tally.succeeded, of(&[Kind::Settled]));
    assert_eq!(tally.succeeded, tally.orders_live + tally.orders_cancelled);
    assert_eq!(
        tally.orders_cancelled,
        of(&[Kind::CancelledToProduct, Kind::CancelledToSale])
    );
    let came = tally.stock_total + of(&[Kind::CancelledToSale]);
    let went = of(&[Kind::Settled, Kind::UnsoldReturned, Kind::FailedToProduct]);
    assert_eq!(came - tally.available, went, "{tally:?}");
    let returned = movements.iter().filter(|movement| movement.kind.is_return());
    assert_eq!(tally.returned, returned.map(|movement| movement.units).sum::<u64>());
    assert_eq!(
        tally.stock_total,
        tally.available + tally.orders_live + tally.returned,
        "{tally:?}"
    );
    let newest = movements.iter().filter(|movement| movement.store_delta() != 0);
    let newest = newest.map(|movement| movement.id).max();
    assert_eq!(tally.last_store_movement, newest.unwrap_or(0));
    assert!(movements.is_sorted_by(|a, b| a.id < b.id), "{movements:?}");
}

/// All movements of an activity.
///
/// # Panics
/// Where they can't be read.
pub async fn all_movements(ledger: &dyn Ledger, activity: ActivityId) -> Vec<Movement> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let found = ledger.movements(activity, page(cursor, PageRequest::LIMIT_MAX)).await;
        let found = found.expect("the movements");
        all.extend(found.rows);
        cursor = found.next;
        if cursor.is_none() {
            return all;
        }
    }
}

/// All records of an activity.
///
/// # Panics
/// Where they can't be read.
pub async fn all_records(ledger: &dyn Ledger, activity: ActivityId) -> Vec<LedgerRecord> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let found = ledger.records(activity, page(cursor, PageRequest::LIMIT_MAX)).await;
        let found = found.expect("the records");
        all.extend(found.rows);
        cursor = found.next;
        if cursor.is_none() {
            return all;
        }
    }
}

/// Kinds and units of an activity's movements, oldest first.
///
/// # Panics
/// Where they can't be read.
pub async fn moves(ledger: &dyn Ledger, activity: ActivityId) -> Vec<(MovementKind, u64)> {
    let movements = all_movements(ledger, activity).await;
    movements
        .iter()
        .map(|movement| (movement.kind, movement.units))
        .collect()
}
