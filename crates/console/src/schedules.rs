//! Recurring sales: each round becomes an activity of its own, made by the scheduler.

use http::{StatusCode, Uri};
use seckill_api::Answer;
use seckill_flow::{Occurrences, OccurrencesError};
use seckill_ledger::{NewSchedule, Schedule};
use seckill_sale::{Challenge, EpochMs, Window};
use serde::Deserialize;

use crate::call::{Call, RowInPath};
use crate::error::Error;
use crate::house_views::ScheduleView;
use crate::list::{self, PageQuery};
use crate::offer::{LevelAsked, Offer};
use crate::outer::Reply;
use crate::write::Write;

/// Longest round and longest time by which it is made ahead, in seconds: a year.
const SPAN_S_MAX: u64 = 366 * 24 * 3600;
/// Longest expression and name of a time zone, in characters.
const EXPRESSION_LENGTH_MAX: usize = 120;

const fn one() -> u64 {
    1
}

/// A day ahead, so that people see it coming.
const fn lead_default() -> u64 {
    24 * 3600
}

/// A recurring sale to be made.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    cron: String,
    time_zone: String,
    duration_s: u64,
    #[serde(default = "lead_default")]
    lead_s: u64,
    product_id: u64,
    title: String,
    seckill_price_cents: u64,
    stock: u64,
    #[serde(default = "one")]
    per_user_limit: u64,
    #[serde(default = "one")]
    shards: u64,
    #[serde(default)]
    challenge: Challenge,
    #[serde(default)]
    eligibility: Option<LevelAsked>,
    #[serde(default)]
    notice: Option<String>,
}

fn occurrences(cron: &str, time_zone: &str) -> Result<Occurrences, Error> {
    for (field, text) in [("cron", cron), ("time_zone", time_zone)] {
        if EXPRESSION_LENGTH_MAX < text.len() {
            return Err(Error::invalid(
                field,
                format!("must be at most {EXPRESSION_LENGTH_MAX} characters"),
            ));
        }
    }
    Occurrences::new(cron, time_zone).map_err(|error| {
        let field = match error {
            OccurrencesError::Expression(_) => "cron",
            OccurrencesError::TimeZone(_) => "time_zone",
        };
        Error::invalid(field, error.to_string())
    })
}

fn span_ms(field: &'static str, seconds: u64, least: u64) -> Result<i64, Error> {
    let fine = (least..=SPAN_S_MAX).contains(&seconds);
    let ms = i64::try_from(seconds * u64::from(fine) * 1000).unwrap_or(0);
    fine.then_some(ms)
        .ok_or_else(|| Error::invalid(field, format!("must be from {least} to {SPAN_S_MAX} seconds")))
}

fn narrowed(wanted: Wanted, call: &Call) -> Result<NewSchedule, Error> {
    let starts = occurrences(&wanted.cron, &wanted.time_zone)?;
    if starts.after(call.now).is_none() {
        return Err(Error::invalid("cron", "never comes"));
    }
    let lead_ms = span_ms("lead_s", wanted.lead_s, 0)?;
    // The window's length counts; its start is the round's.
    let window = Window {
        starts_at: EpochMs(0),
        ends_at: EpochMs(span_ms("duration_s", wanted.duration_s, 1)?),
    };
    let offer = Offer {
        product_id: wanted.product_id,
        title: wanted.title,
        seckill_price_cents: wanted.seckill_price_cents,
        stock: wanted.stock,
        per_user_limit: wanted.per_user_limit,
        shards: wanted.shards,
        challenge: wanted.challenge,
        eligibility: wanted.eligibility,
        notice: wanted.notice,
    };
    Ok(NewSchedule {
        template: offer.within(window, call.console.settings.shards_max)?,
        cron: wanted.cron,
        time_zone: wanted.time_zone,
        lead_ms,
    })
}

/// Makes a schedule.
pub(crate) async fn create(Write { call, body, context }: Write<Wanted>) -> Result<Reply, Error> {
    let schedule = narrowed(body, &call)?;
    let console = &*call.console;
    // Its rounds would fail one by one.
    console.ledger().product(schedule.template.product_id).await?;
    let schedule = console.ledger().create_schedule(schedule, context).await?;
    console.operator.changed().notify_one();
    Ok(Reply(Answer::fine(&view(&call, &schedule)).status(StatusCode::CREATED)))
}

/// All schedules by number.
pub(crate) async fn list(call: Call, uri: Uri) -> Result<Reply, Error> {
    let request = PageQuery::of(&uri)?;
    let all = call.console.ledger().schedules().await?;
    let page = list::cut(all, &request, |schedule| schedule.id)?;
    Ok(Reply(list::answer("schedules", &page, |row| view(&call, row))))
}

/// A schedule is switched on or off; what it says stays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patch {
    enabled: bool,
}

/// Switches a schedule on or off.
pub(crate) async fn patch(
    RowInPath(id): RowInPath,
    Write { call, body, context }: Write<Patch>,
) -> Result<Reply, Error> {
    let schedule = call
        .console
        .ledger()
        .set_schedule_enabled(id, body.enabled, context)
        .await?;
    call.console.operator.changed().notify_one();
    Ok(Reply(Answer::fine(&view(&call, &schedule))))
}

fn view(call: &Call, schedule: &Schedule) -> ScheduleView {
    let starts = Occurrences::new(&schedule.schedule.cron, &schedule.schedule.time_zone).ok();
    ScheduleView::new(schedule, starts.and_then(|starts| starts.after(call.now)))
}
