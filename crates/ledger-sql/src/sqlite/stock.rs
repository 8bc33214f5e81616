//! Units on their way between product, sale and orders: each move changes the rows it goes between and leaves one movement row.

use rusqlite::{OptionalExtension as _, Transaction, params};
use seckill_ledger::{Conflict, Error, Movement, MovementKind, UnitsOnCancel};
use seckill_sale::{ActivityId, EpochMs, ProductId, UnitTo};

use super::errors::{Stop, found};
use super::rows::{MOVEMENT, STATUSES, maybe_moment, moment, movement, number, signed, small, unsigned, word};

/// The stock row with what settlement and unit returns need of the activity.
#[derive(Debug, Clone, Copy)]
pub(super) struct StockRow {
    pub(super) product: ProductId,
    pub(super) available: u64,
    pub(super) version: u64,
    ends_at: EpochMs,
    closed_at: Option<EpochMs>,
}

impl StockRow {
    /// Where units go that come back at `now`: into the sale while it may still sell them.
    pub(super) fn unit_to(&self, now: EpochMs) -> UnitTo {
        if self.closed_at.is_none() && now < self.ends_at {
            UnitTo::Sale
        } else {
            UnitTo::Product
        }
    }
}

pub(super) fn stock_row(transaction: &Transaction<'_>, id: ActivityId) -> Result<StockRow, Stop> {
    let mut statement = transaction.prepare_cached(
        "SELECT a.product_id, s.available, s.version, a.ends_at, a.closed_at
         FROM stock s JOIN activities a ON a.id = s.activity_id WHERE s.activity_id = ?1",
    )?;
    let row = statement.query_row([small(id.get())], |row| {
        Ok(StockRow {
            product: number(row, 0)?,
            available: unsigned(row, 1)?,
            version: unsigned(row, 2)?,
            ends_at: moment(row, 3)?,
            closed_at: maybe_moment(row, 4)?,
        })
    });
    found(row, "activity")
}

/// Refuses where the activity is closed.
pub(super) fn check_not_closed(transaction: &Transaction<'_>, id: ActivityId) -> Result<(), Stop> {
    let mut statement = transaction.prepare_cached("SELECT status FROM activities WHERE id = ?1")?;
    let status = statement.query_row([small(id.get())], |row| word(row, 0, &STATUSES));
    match found(status, "activity")? {
        seckill_sale::Status::Closed => Err(Conflict::Closed.into()),
        _ => Ok(()),
    }
}

/// Takes units that no activity holds.
pub(super) fn take_from_product(transaction: &Transaction<'_>, product: ProductId, units: u64) -> Result<(), Stop> {
    let mut statement = transaction.prepare_cached(
        "UPDATE products SET stock = stock - ?2, version = version + 1 WHERE id = ?1 AND stock >= ?2",
    )?;
    if statement.execute([small(product.get()), small(units)])? == 1 {
        return Ok(());
    }
    let mut statement = transaction.prepare_cached("SELECT stock FROM products WHERE id = ?1")?;
    let available = found(
        statement.query_row([small(product.get())], |row| unsigned(row, 0)),
        "product",
    )?;
    Err(Conflict::ProductShort {
        available,
        wanted: units,
    }
    .into())
}

fn give_to_product(transaction: &Transaction<'_>, product: ProductId, units: u64) -> Result<(), Stop> {
    let mut statement =
        transaction.prepare_cached("UPDATE products SET stock = stock + ?2, version = version + 1 WHERE id = ?1")?;
    statement.execute([small(product.get()), signed("stock", units)?])?;
    Ok(())
}

/// Adds units to the sale: all that were ever given, or only those left.
pub(super) fn add_to_sale(
    transaction: &Transaction<'_>,
    activity: ActivityId,
    total: u64,
    available: u64,
) -> Result<(), Stop> {
    let mut statement = transaction.prepare_cached(
        "UPDATE stock SET total = total + ?2, available = available + ?3, version = version + 1 WHERE activity_id = ?1",
    )?;
    let (total, available) = (signed("stock", total)?, signed("stock", available)?);
    statement.execute([small(activity.get()), total, available])?;
    Ok(())
}

/// Takes units that are left, guarded by their number and the version that was read in this transaction.
pub(super) fn take_from_sale(
    transaction: &Transaction<'_>,
    activity: ActivityId,
    units: u64,
    version: u64,
) -> Result<(), Stop> {
    let mut statement = transaction.prepare_cached(
        "UPDATE stock SET available = available - ?2, version = version + 1
         WHERE activity_id = ?1 AND available >= ?2 AND version = ?3",
    )?;
    let taken = statement.execute([
        small(activity.get()),
        signed("units", units)?,
        signed("version", version)?,
    ])?;
    if taken == 1 {
        return Ok(());
    }
    Err(Error::Outage("the stock row changed under its lock".to_owned()).into())
}

/// Writes the row of a movement whose units were moved in this transaction.
pub(super) fn note_movement(
    transaction: &Transaction<'_>,
    activity: ActivityId,
    kind: MovementKind,
    units: u64,
    now: EpochMs,
) -> Result<Movement, Stop> {
    let mut statement = transaction
        .prepare_cached("INSERT INTO stock_movements (activity_id, kind, units, moved_at) VALUES (?1, ?2, ?3, ?4)")?;
    let id = statement.insert(params![
        small(activity.get()),
        kind.as_str(),
        signed("units", units)?,
        now.0
    ])?;
    Ok(Movement {
        id: id.cast_unsigned(),
        activity,
        kind,
        units,
        moved_at: now,
    })
}

/// Moves the units of cancelled or expired orders of one activity.
pub(super) fn return_cancelled(
    transaction: &Transaction<'_>,
    activity: ActivityId,
    units: u64,
    now: EpochMs,
    on_cancel: UnitsOnCancel,
) -> Result<Movement, Stop> {
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
    let row = stock_row(transaction, activity)?;
    let sql = format!("SELECT {MOVEMENT} FROM stock_movements WHERE activity_id = ?1 AND kind = 'unsold_returned'");
    let mut statement = transaction.prepare_cached(&sql)?;
    if let Some(movement) = statement.query_row([small(activity.get())], movement).optional()? {
        return Ok(Returned {
            movement,
            is_new: false,
        });
    }
    let mut statement = transaction
        .prepare_cached("SELECT coalesce(sum(quantity), 0) FROM records WHERE activity_id = ?1 AND state = 0")?;
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
