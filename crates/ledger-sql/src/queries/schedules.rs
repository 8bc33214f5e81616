//! Recurring sales and their rounds. The template of a schedule is kept as JSON, because no query looks into it.

use super::db::{Row, Transaction, params, unreadable};
use seckill_ledger::{Conflict, Context, Error, NewActivity, NewSchedule, Schedule};
use seckill_sale::{Activity, Challenge, EpochMs, Price, ProductId, Quantity, Stock, Window};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::activities;
use super::admin::{audit, row_id};
use super::dialect;
use super::errors::{Stop, found, rejected};
use super::rows::{SqlResult, maybe_moment, moment, small, unsigned};

/// [`NewActivity`] as it is stored. A field that is added later needs a default.
#[derive(Serialize, Deserialize)]
struct Template {
    product_id: ProductId,
    title: String,
    seckill_price_cents: Price,
    stock: Stock,
    window: Window,
    per_user_limit: Quantity,
    shards: u16,
    challenge: Challenge,
    #[serde(default)]
    min_level: Option<u32>,
    draft: bool,
    notice: Option<String>,
}

impl From<&NewActivity> for Template {
    fn from(new: &NewActivity) -> Self {
        Self {
            product_id: new.product_id,
            title: new.title.clone(),
            seckill_price_cents: new.seckill_price,
            stock: new.stock,
            window: new.window,
            per_user_limit: new.per_user_limit,
            shards: new.shards,
            challenge: new.challenge,
            min_level: new.min_level,
            draft: new.draft,
            notice: new.notice.clone(),
        }
    }
}

impl From<Template> for NewActivity {
    fn from(template: Template) -> Self {
        Self {
            product_id: template.product_id,
            title: template.title,
            seckill_price: template.seckill_price_cents,
            stock: template.stock,
            window: template.window,
            per_user_limit: template.per_user_limit,
            shards: template.shards,
            challenge: template.challenge,
            min_level: template.min_level,
            draft: template.draft,
            notice: template.notice,
        }
    }
}

const SCHEDULE: &str =
    "SELECT id, template, cron, time_zone, lead_ms, enabled, last_round, last_error, created_at FROM schedules";

pub(super) fn read_schedule(row: &Row<'_>) -> SqlResult<Schedule> {
    let template: String = row.get(1)?;
    let template: Template = serde_json::from_str(&template).map_err(unreadable)?;
    Ok(Schedule {
        id: unsigned(row, 0)?,
        schedule: NewSchedule {
            template: template.into(),
            cron: row.get(2)?,
            time_zone: row.get(3)?,
            lead_ms: row.get(4)?,
        },
        enabled: row.get(5)?,
        last_round: maybe_moment(row, 6)?,
        last_error: row.get(7)?,
        created_at: moment(row, 8)?,
    })
}

pub(super) fn schedule(transaction: &Transaction<'_>, id: u64) -> Result<Schedule, Stop> {
    let mut statement = transaction.prepare_cached(&format!("{SCHEDULE} WHERE id = ?1"))?;
    found(statement.query_row([row_id(id)?], read_schedule), "schedule")
}

pub(super) fn all(transaction: &Transaction<'_>) -> Result<Vec<Schedule>, Stop> {
    let mut statement = transaction.prepare_cached(&format!("{SCHEDULE} ORDER BY id"))?;
    super::pages::collect(&mut statement, [], read_schedule)
}

fn subject(id: u64) -> String {
    format!("schedule {id}")
}

pub(super) fn create(transaction: &Transaction<'_>, new: &NewSchedule, context: &Context) -> Result<Schedule, Stop> {
    let template =
        serde_json::to_string(&Template::from(&new.template)).map_err(|error| rejected(error.to_string()))?;
    let mut statement = transaction.prepare_cached(
        "INSERT INTO schedules (template, cron, time_zone, lead_ms, enabled, created_at) VALUES (?1, ?2, ?3, ?4, 1, ?5)",
    )?;
    let id = statement.insert(params![template, new.cron, new.time_zone, new.lead_ms, context.now.0])?;
    let made = schedule(transaction, id.cast_unsigned())?;
    let after =
        json!({"cron": new.cron, "time_zone": new.time_zone, "lead_ms": new.lead_ms, "title": new.template.title});
    audit(
        transaction,
        context,
        "schedule.create",
        &subject(made.id),
        &Value::Null,
        &after,
    )?;
    Ok(made)
}

pub(super) fn set_enabled(
    transaction: &Transaction<'_>,
    id: u64,
    enabled: bool,
    context: &Context,
) -> Result<Schedule, Stop> {
    dialect::lock_schedule(transaction, id)?;
    let before = schedule(transaction, id)?;
    if before.enabled == enabled {
        return Ok(before);
    }
    let mut statement = transaction.prepare_cached("UPDATE schedules SET enabled = ?2 WHERE id = ?1")?;
    statement.execute(params![row_id(id)?, enabled])?;
    let (was, is) = (json!({"enabled": before.enabled}), json!({"enabled": enabled}));
    audit(transaction, context, "schedule.set_enabled", &subject(id), &was, &is)?;
    schedule(transaction, id)
}

/// Makes a round. A product that is too short is not an error of the transaction: that the round was given up is to be kept.
pub(super) fn make_round(
    transaction: &Transaction<'_>,
    id: u64,
    round: EpochMs,
    new: &NewActivity,
    context: &Context,
) -> Result<Result<Activity, Conflict>, Stop> {
    dialect::lock_schedule(transaction, id)?;
    schedule(transaction, id)?;
    let mut statement =
        transaction.prepare_cached("SELECT 1 FROM schedule_rounds WHERE schedule_id = ?1 AND round = ?2")?;
    if statement.exists(params![row_id(id)?, round.0])? {
        return Err(Conflict::RoundExists.into());
    }
    // Taking the units is the first thing that making an activity does, and where they are short it has changed nothing yet.
    let activity = match activities::create(transaction, new, context) {
        Err(Stop::Ledger(Error::Conflict(short @ Conflict::ProductShort { .. }))) => {
            note_round(transaction, id, round, Some(&short.to_string()))?;
            let after = json!({"round": round, "error": short.to_string()});
            audit(
                transaction,
                context,
                "schedule.round_given_up",
                &subject(id),
                &Value::Null,
                &after,
            )?;
            return Ok(Err(short));
        }
        other => other?,
    };
    let mut statement = transaction
        .prepare_cached("INSERT INTO schedule_rounds (schedule_id, round, activity_id) VALUES (?1, ?2, ?3)")?;
    statement.execute(params![row_id(id)?, round.0, small(activity.id.get())])?;
    note_round(transaction, id, round, None)?;
    Ok(Ok(activity))
}

fn note_round(transaction: &Transaction<'_>, id: u64, round: EpochMs, error: Option<&str>) -> Result<(), Stop> {
    let mut statement = transaction.prepare_cached(
        "UPDATE schedules SET last_round = CASE WHEN last_round > ?2 THEN last_round ELSE ?2 END, last_error = ?3 WHERE id = ?1",
    )?;
    statement.execute(params![row_id(id)?, round.0, error])?;
    Ok(())
}
