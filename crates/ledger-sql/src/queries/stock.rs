//! Units on their way between product, sale and orders: each move changes the rows it goes between and leaves one movement row.

use super::db::{Transaction, params};
use seckill_ledger::{Conflict, Error, Movement, MovementKind};
use seckill_sale::{ActivityId, EpochMs, ProductId, UnitTo};

use super::errors::{Stop, found};
use super::rows::{STATUSES, maybe_moment, moment, number, signed, small, unsigned, word};

/// The stock row with what settlement and unit returns need of the activity.
#[derive(Debug, Clone, Copy)]
pub(super) struct StockRow {
    pub(super) product: ProductId,
    pub(super) available: u64,
    pub(super) version: u64,
    pub(super) ends_at: EpochMs,
    pub(super) closed_at: Option<EpochMs>,
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

pub(super) fn give_to_product(transaction: &Transaction<'_>, product: ProductId, units: u64) -> Result<(), Stop> {
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
    if take_settled(transaction, activity, units, Some(version))? {
        return Ok(());
    }
    Err(Error::Outage("the stock row changed under its lock".to_owned()).into())
}

/// The same for a batch; false where units are short, or where a version was read that is not there any more.
pub(super) fn take_settled(
    transaction: &Transaction<'_>,
    activity: ActivityId,
    units: u64,
    version: Option<u64>,
) -> Result<bool, Stop> {
    const TAKE: &str = "UPDATE stock SET available = available - ?2, version = version + 1
         WHERE activity_id = ?1 AND available >= ?2";
    const TAKE_VERSION: &str = "UPDATE stock SET available = available - ?2, version = version + 1
         WHERE activity_id = ?1 AND available >= ?2 AND version = ?3";
    let (activity, units) = (small(activity.get()), signed("units", units)?);
    let taken = match version {
        Some(version) => {
            transaction
                .prepare_cached(TAKE_VERSION)?
                .execute([activity, units, signed("version", version)?])?
        }
        None => transaction.prepare_cached(TAKE)?.execute([activity, units])?,
    };
    Ok(taken == 1)
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
