//! Operators' movements of units, each with its audit row.

use super::db::Transaction;
use seckill_ledger::{Context, Movement, MovementKind};
use seckill_sale::{ActivityId, Stock};
use serde_json::{Value, json};

use super::admin::audit;
use super::errors::{Stop, found};
use super::rows::{MOVEMENT, movement, small};
use super::{activities, dialect, returns, stock};

pub(super) fn read_movement(transaction: &Transaction<'_>, id: u64) -> Result<Movement, Stop> {
    let sql = format!("SELECT {MOVEMENT} FROM stock_movements WHERE id = ?1");
    found(
        transaction.prepare_cached(&sql)?.query_row([small(id)], movement),
        "movement",
    )
}

pub(super) fn add_stock(
    transaction: &Transaction<'_>,
    id: ActivityId,
    units: Stock,
    context: &Context,
) -> Result<Movement, Stop> {
    dialect::lock_sale(transaction, id)?;
    stock::check_not_closed(transaction, id)?;
    let row = stock::stock_row(transaction, id)?;
    stock::take_from_product(transaction, row.product, units.get())?;
    stock::add_to_sale(transaction, id, units.get(), units.get())?;
    activities::count_version(transaction, id)?;
    let moved = stock::note_movement(transaction, id, MovementKind::Added, units.get(), context.now)?;
    audited_movement(transaction, "activity.add_stock", &moved, context)?;
    Ok(moved)
}

fn audited_movement(
    transaction: &Transaction<'_>,
    action: &str,
    moved: &Movement,
    context: &Context,
) -> Result<(), Stop> {
    let after = json!({"movement": moved.id, "units": moved.units});
    let subject = activities::subject(moved.activity);
    audit(transaction, context, action, &subject, &Value::Null, &after)
}

pub(super) fn return_unsold(
    transaction: &Transaction<'_>,
    id: ActivityId,
    units: u64,
    context: &Context,
) -> Result<Movement, Stop> {
    let returned = returns::return_unsold(transaction, id, units, context.now)?;
    if returned.is_new {
        audited_movement(transaction, "activity.return_unsold", &returned.movement, context)?;
    }
    Ok(returned.movement)
}
