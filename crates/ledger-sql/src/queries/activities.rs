//! Rows of activities: making, reading, opening.

use super::db::{Row, Transaction, params};
use seckill_ledger::{Conflict, Context, MovementKind, NewActivity, OpeningRow};
use seckill_sale::{Activity, ActivityId, Currency, Eligibility, Epoch, Status, Window};
use serde_json::{Value, json};

use super::admin::audit;
use super::dialect;
use super::errors::{Stop, found, rejected};
use super::rows::{
    CHALLENGES, STATUSES, SqlResult, maybe_moment, moment, number, small, text, units, unsigned, word, word_of,
};
use super::stock;

/// All columns of an activity, with its product and its stock row.
pub(super) const ACTIVITY: &str = "SELECT a.id, a.product_id, p.name, a.title, p.price_cents, a.seckill_price_cents,
    a.currency, s.total, a.starts_at, a.ends_at, a.per_user_limit, a.shards, a.challenge, a.status, a.epoch, a.version,
    a.resumes_at, a.notice, a.created_at, a.min_level, a.eligible_list
    FROM activities a JOIN products p ON p.id = a.product_id JOIN stock s ON s.activity_id = a.id";

pub(super) fn read_activity(row: &Row<'_>) -> SqlResult<Activity> {
    let epoch = row.get::<_, Option<i64>>(14)?.map(|_| number::<Epoch>(row, 14));
    let list = row.get::<_, Option<i64>>(20)?.map(|_| unsigned(row, 20));
    Ok(Activity {
        id: number(row, 0)?,
        product_id: number(row, 1)?,
        product_name: row.get(2)?,
        title: row.get(3)?,
        price: number(row, 4)?,
        seckill_price: number(row, 5)?,
        currency: text(row, 6, Currency::new)?,
        stock_total: unsigned(row, 7)?,
        window: Window {
            starts_at: moment(row, 8)?,
            ends_at: moment(row, 9)?,
        },
        per_user_limit: number(row, 10)?,
        shards: row.get(11)?,
        challenge: word(row, 12, &CHALLENGES)?,
        eligibility: Eligibility {
            min_level: row.get(19)?,
            list: list.transpose()?,
        },
        status: word(row, 13, &STATUSES)?,
        epoch: epoch.transpose()?,
        version: unsigned(row, 15)?,
        resumes_at: maybe_moment(row, 16)?,
        notice: row.get(17)?,
        created_at: moment(row, 18)?,
    })
}

pub(super) fn activity(transaction: &Transaction<'_>, id: ActivityId) -> Result<Activity, Stop> {
    let mut statement = transaction.prepare_cached(&format!("{ACTIVITY} WHERE a.id = ?1"))?;
    found(statement.query_row([small(id.get())], read_activity), "activity")
}

/// What an audit row says of an activity.
pub(super) fn told(activity: &Activity) -> Value {
    json!({
        "title": activity.title, "seckill_price_cents": activity.seckill_price, "status": activity.status,
        "starts_at": activity.window.starts_at, "ends_at": activity.window.ends_at,
        "per_user_limit": activity.per_user_limit, "challenge": activity.challenge,
        "eligibility": activity.eligibility, "notice": activity.notice,
        "resumes_at": activity.resumes_at, "stock_total": activity.stock_total, "version": activity.version,
    })
}

pub(super) fn subject(id: ActivityId) -> String {
    format!("activity {id}")
}

/// Makes the activity, its stock row and its first movement.
pub(super) fn create(transaction: &Transaction<'_>, new: &NewActivity, context: &Context) -> Result<Activity, Stop> {
    stock::take_from_product(transaction, new.product_id, new.stock.get())?;
    let status = if new.draft { Status::Draft } else { Status::Running };
    let id = transaction
        .prepare_cached(
            "INSERT INTO activities (product_id, title, seckill_price_cents, currency, starts_at, ends_at, per_user_limit,
                shards, challenge, status, notice, version, created_at, min_level)
             SELECT id, ?2, ?3, currency, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11, ?12 FROM products WHERE id = ?1",
        )?
        .insert(params![
            small(new.product_id.get()),
            new.title,
            small(new.seckill_price.cents()),
            new.window.starts_at.0,
            new.window.ends_at.0,
            units(new.per_user_limit),
            new.shards,
            word_of(&new.challenge, &CHALLENGES),
            word_of(&status, &STATUSES),
            new.notice,
            context.now.0,
            new.min_level.map(i64::from),
        ])?;
    let id = ActivityId::new(id.cast_unsigned()).map_err(|error| rejected(error.to_string()))?;
    transaction
        .prepare_cached("INSERT INTO stock (activity_id, total, available, version) VALUES (?1, 0, 0, 1)")?
        .execute([small(id.get())])?;
    stock::add_to_sale(transaction, id, new.stock.get(), new.stock.get())?;
    stock::note_movement(transaction, id, MovementKind::Created, new.stock.get(), context.now)?;
    let made = activity(transaction, id)?;
    audit(
        transaction,
        context,
        "activity.create",
        &subject(id),
        &Value::Null,
        &told(&made),
    )?;
    Ok(made)
}

/// Counts every change that is made outside of `activity_changes.rs`.
pub(super) fn count_version(transaction: &Transaction<'_>, id: ActivityId) -> Result<(), Stop> {
    let mut statement = transaction.prepare_cached("UPDATE activities SET version = version + 1 WHERE id = ?1")?;
    statement.execute([small(id.get())])?;
    Ok(())
}

/// Refuses where a newer state than that of `epoch` was begun. To be called with the stock row locked, under which [`begin_opening`] counts.
pub(super) fn check_epoch(transaction: &Transaction<'_>, id: ActivityId, epoch: Epoch) -> Result<(), Stop> {
    let mut statement = transaction.prepare_cached("SELECT coalesce(epoch, 0) FROM activities WHERE id = ?1")?;
    let present = found(
        statement.query_row([small(id.get())], |row| unsigned(row, 0)),
        "activity",
    )?;
    match Epoch::new(present) {
        Ok(present) if epoch < present => Err(Conflict::OlderState { present }.into()),
        _ => Ok(()),
    }
}

/// As [`check_epoch`]; an unknown activity has no newer state.
pub(super) fn check_epoch_if_known(transaction: &Transaction<'_>, id: ActivityId, epoch: Epoch) -> Result<(), Stop> {
    match check_epoch(transaction, id, epoch) {
        Err(Stop::Ledger(seckill_ledger::Error::NotFound(_))) => Ok(()),
        checked => checked,
    }
}

pub(super) fn begin_opening(
    transaction: &Transaction<'_>,
    id: ActivityId,
    context: &Context,
) -> Result<OpeningRow, Stop> {
    dialect::lock_sale(transaction, id)?;
    let mut statement = transaction
        .prepare_cached("UPDATE activities SET epoch = coalesce(epoch, 0) + 1, version = version + 1 WHERE id = ?1")?;
    statement.execute([small(id.get())])?;
    let activity = activity(transaction, id)?;
    let row = stock::stock_row(transaction, id)?;
    let mut statement =
        transaction.prepare_cached("SELECT coalesce(max(id), 0) FROM stock_movements WHERE activity_id = ?1")?;
    let last_movement = statement.query_row([small(id.get())], |row| unsigned(row, 0))?;
    let epoch = activity.epoch.ok_or_else(|| rejected("the epoch was not counted"))?;
    let after = json!({"epoch": epoch, "available": row.available, "last_movement": last_movement});
    audit(
        transaction,
        context,
        "activity.open",
        &subject(id),
        &Value::Null,
        &after,
    )?;
    Ok(OpeningRow {
        activity,
        epoch,
        available: row.available,
        last_movement,
    })
}
