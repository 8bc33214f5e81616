//! Units that come back: of cancelled and expired orders, of failed tickets, of a sale that is over.

use super::db::{OptionalExtension as _, Transaction};
use seckill_ledger::{Conflict, Movement, MovementKind, UnitsOnCancel};
use seckill_sale::{ActivityId, EpochMs, UnitTo};

use super::dialect;
use super::errors::Stop;
use super::rows::{MOVEMENT, movement, small, unsigned};
use super::stock::{add_to_sale, give_to_product, note_movement, stock_row, take_from_sale};

/// Moves the units of cancelled or expired orders of one activity.
pub(super) fn return_cancelled(
    transaction: &Transaction<'_>,
    activity: ActivityId,
    units: u64,
    now: EpochMs,
    on_cancel: UnitsOnCancel,
) -> Result<Movement, Stop> {
    dialect::lock_sale(transaction, activity)?;
    let row = stock_row(transaction, activity)?;
    let kind = if on_cancel == UnitsOnCancel::Sale && row.unit_to(now) == UnitTo::Sale {
        add_to_sale(transaction, activity, 0, units)?;
        MovementKind::CancelledToSale
    } else {
        give_to_product(transaction, row.product, units)?;
        MovementKind::CancelledToProduct
    };
    note_movement(transaction, activity, kind, units, now)
}

/// Moves the units of a ticket that failed for good; none where the ledger has no unit for it, since a store that lost state had
/// given out too many.
pub(super) fn return_failed(
    transaction: &Transaction<'_>,
    activity: ActivityId,
    units: u64,
    now: EpochMs,
) -> Result<Option<UnitTo>, Stop> {
    dialect::lock_sale(transaction, activity)?;
    let row = stock_row(transaction, activity)?;
    if row.available < units {
        return Ok(None);
    }
    let to = row.unit_to(now);
    let kind = match to {
        // They never left the sale's row: the store alone had taken them.
        UnitTo::Sale => MovementKind::FailedToSale,
        UnitTo::Product => {
            take_from_sale(transaction, activity, units, row.version)?;
            give_to_product(transaction, row.product, units)?;
            MovementKind::FailedToProduct
        }
    };
    note_movement(transaction, activity, kind, units, now)?;
    Ok(Some(to))
}

/// The return of unsold units, and whether it happened now.
pub(super) struct Returned {
    pub(super) movement: Movement,
    pub(super) is_new: bool,
}

/// Gives unsold units of a closed activity back, once. Units of parked tickets are not unsold.
pub(super) fn return_unsold(
    transaction: &Transaction<'_>,
    activity: ActivityId,
    units: u64,
    now: EpochMs,
) -> Result<Returned, Stop> {
    dialect::lock_sale(transaction, activity)?;
    let row = stock_row(transaction, activity)?;
    let sql = format!("SELECT {MOVEMENT} FROM stock_movements WHERE activity_id = ?1 AND kind = 'unsold_returned'");
    let mut statement = transaction.prepare_cached(&sql)?;
    if let Some(movement) = statement.query_row([small(activity.get())], movement).optional()? {
        return Ok(Returned {
            movement,
            is_new: false,
        });
    }
    let mut statement = transaction.prepare_cached(
        "SELECT CAST(coalesce(sum(quantity), 0) AS BIGINT) FROM records WHERE activity_id = ?1 AND state = 0",
    )?;
    let parked = statement.query_row([small(activity.get())], |row| unsigned(row, 0))?;
    if row.closed_at.is_none() || row.available.saturating_sub(parked) < units {
        return Err(Conflict::Unsettled.into());
    }
    if 0 < units {
        take_from_sale(transaction, activity, units, row.version)?;
        give_to_product(transaction, row.product, units)?;
    }
    let movement = note_movement(transaction, activity, MovementKind::UnsoldReturned, units, now)?;
    Ok(Returned { movement, is_new: true })
}
