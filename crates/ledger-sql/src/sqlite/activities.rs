//! Rows of activities: making, reading, changing, opening.

use rusqlite::{Row, Transaction, params};
use seckill_ledger::{ActivityPatch, Conflict, Context, MovementKind, NewActivity, OpeningRow};
use seckill_sale::{Activity, ActivityId, Currency, Epoch, EpochMs, Status, Window};
use serde_json::{Value, json};

use super::admin::audit;
use super::errors::{Stop, found, rejected};
use super::rows::{
    CHALLENGES, STATUSES, SqlResult, maybe_moment, moment, number, small, text, units, unsigned, word, word_of,
};
use super::stock;

/// All columns of an activity, with its product and its stock row.
pub(super) const ACTIVITY: &str = "SELECT a.id, a.product_id, p.name, a.title, p.price_cents, a.seckill_price_cents,
    a.currency, s.total, a.starts_at, a.ends_at, a.per_user_limit, a.shards, a.challenge, a.status, a.epoch, a.version,
    a.resumes_at, a.notice, a.created_at
    FROM activities a JOIN products p ON p.id = a.product_id JOIN stock s ON s.activity_id = a.id";

pub(super) fn read_activity(row: &Row<'_>) -> SqlResult<Activity> {
    let epoch = row.get::<_, Option<i64>>(14)?.map(|_| number::<Epoch>(row, 14));
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
fn told(activity: &Activity) -> Value {
    json!({
        "title": activity.title, "seckill_price_cents": activity.seckill_price, "status": activity.status,
        "starts_at": activity.window.starts_at, "ends_at": activity.window.ends_at,
        "per_user_limit": activity.per_user_limit, "challenge": activity.challenge, "notice": activity.notice,
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
                shards, challenge, status, notice, version, created_at)
             SELECT id, ?2, ?3, currency, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11 FROM products WHERE id = ?1",
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

/// Changes what the patch names; a field that has that value already does not count as changed.
pub(super) fn patch(
    transaction: &Transaction<'_>,
    id: ActivityId,
    patch: ActivityPatch,
    context: &Context,
) -> Result<Activity, Stop> {
    let before = activity(transaction, id)?;
    if patch.version.is_some_and(|seen| seen != before.version) {
        return Err(Conflict::StaleVersion.into());
    }
    if before.status == Status::Closed {
        return Err(Conflict::Closed.into());
    }
    let mut after = before.clone();
    after.title = patch.title.unwrap_or(after.title);
    after.seckill_price = patch.seckill_price.unwrap_or(after.seckill_price);
    after.window.starts_at = patch.starts_at.unwrap_or(after.window.starts_at);
    after.window.ends_at = patch.ends_at.unwrap_or(after.window.ends_at);
    after.per_user_limit = patch.per_user_limit.unwrap_or(after.per_user_limit);
    after.challenge = patch.challenge.unwrap_or(after.challenge);
    after.notice = patch.notice.or(after.notice).filter(|notice| !notice.is_empty());
    if patch.publish && before.status == Status::Draft {
        after.status = Status::Running;
    }
    if after == before {
        return Ok(before);
    }
    check_fixed(&before, &after, context.now)?;
    store(transaction, &before, &after, None)?;
    audited(transaction, id, "activity.patch", &before, context)
}

/// Price, start and limit are what buyers and the store rely on once the sale is prepared.
fn check_fixed(before: &Activity, after: &Activity, now: EpochMs) -> Result<(), Conflict> {
    if before.epoch.is_none() && now < before.window.starts_at {
        return Ok(());
    }
    let changes = [
        ("seckill_price_cents", before.seckill_price != after.seckill_price),
        ("starts_at", before.window.starts_at != after.window.starts_at),
        ("per_user_limit", before.per_user_limit != after.per_user_limit),
    ];
    match changes.iter().find(|(_, changed)| *changed) {
        Some((field, _)) => Err(Conflict::Fixed(field)),
        None => Ok(()),
    }
}

fn store(
    transaction: &Transaction<'_>,
    before: &Activity,
    after: &Activity,
    closed_at: Option<EpochMs>,
) -> Result<(), Stop> {
    let mut statement = transaction.prepare_cached(
        "UPDATE activities SET title = ?3, seckill_price_cents = ?4, starts_at = ?5, ends_at = ?6, per_user_limit = ?7,
            challenge = ?8, notice = ?9, status = ?10, resumes_at = ?11, closed_at = ?12, version = version + 1
         WHERE id = ?1 AND version = ?2",
    )?;
    statement.execute(params![
        small(before.id.get()),
        small(before.version),
        after.title,
        small(after.seckill_price.cents()),
        after.window.starts_at.0,
        after.window.ends_at.0,
        units(after.per_user_limit),
        word_of(&after.challenge, &CHALLENGES),
        after.notice,
        word_of(&after.status, &STATUSES),
        after.resumes_at.map(|at| at.0),
        closed_at.map(|at| at.0),
    ])?;
    Ok(())
}

/// Reads the activity as it is now and writes what became of it.
fn audited(
    transaction: &Transaction<'_>,
    id: ActivityId,
    action: &str,
    before: &Activity,
    context: &Context,
) -> Result<Activity, Stop> {
    let after = activity(transaction, id)?;
    audit(transaction, context, action, &subject(id), &told(before), &told(&after))?;
    Ok(after)
}

/// Pauses, resumes or closes.
pub(super) fn set_status(
    transaction: &Transaction<'_>,
    id: ActivityId,
    status: Status,
    resumes_at: Option<EpochMs>,
    context: &Context,
) -> Result<Activity, Stop> {
    let before = activity(transaction, id)?;
    let action = match (before.status, status) {
        (present, wanted) if present == wanted => return Ok(before),
        (Status::Closed, _) => return Err(Conflict::Closed.into()),
        (_, Status::Closed) => "activity.close",
        (Status::Running, Status::Paused) => "activity.pause",
        (Status::Paused, Status::Running) => "activity.resume",
        // A draft is published, and nothing becomes a draft again: the operator looks at something that was changed meanwhile.
        _ => return Err(Conflict::StaleVersion.into()),
    };
    let after = Activity {
        status,
        resumes_at: resumes_at.filter(|_| status == Status::Paused),
        ..before.clone()
    };
    let closed_at = (status == Status::Closed).then_some(context.now);
    store(transaction, &before, &after, closed_at)?;
    audited(transaction, id, action, &before, context)
}

/// Counts every change that is made outside of [`store`].
pub(super) fn count_version(transaction: &Transaction<'_>, id: ActivityId) -> Result<(), Stop> {
    let mut statement = transaction.prepare_cached("UPDATE activities SET version = version + 1 WHERE id = ?1")?;
    statement.execute([small(id.get())])?;
    Ok(())
}

pub(super) fn begin_opening(
    transaction: &Transaction<'_>,
    id: ActivityId,
    context: &Context,
) -> Result<OpeningRow, Stop> {
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
