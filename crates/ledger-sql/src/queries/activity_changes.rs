//! What an operator changes of an activity's fields.

use super::db::{Transaction, params};
use seckill_ledger::{ActivityPatch, Conflict, Context};
use seckill_sale::{Activity, ActivityId, Eligibility, EpochMs, Status};

use super::activities::{activity, subject, told};
use super::admin::audit;
use super::dialect;
use super::eligible;
use super::errors::Stop;
use super::rows::{CHALLENGES, STATUSES, small, units, word_of};

/// Changes what the patch names; a field that has that value already does not count as changed.
pub(super) fn patch(
    transaction: &Transaction<'_>,
    id: ActivityId,
    patch: ActivityPatch,
    context: &Context,
) -> Result<Activity, Stop> {
    dialect::lock_sale(transaction, id)?;
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
    if patch.for_everybody {
        after.eligibility = Eligibility::default();
    }
    after.eligibility.min_level = patch.min_level.unwrap_or(after.eligibility.min_level);
    after.notice = patch.notice.or(after.notice).filter(|notice| !notice.is_empty());
    if patch.publish && before.status == Status::Draft {
        after.status = Status::Running;
    }
    if after == before {
        return Ok(before);
    }
    if before.window != after.window && before.window.ends_at <= context.now {
        return Err(Conflict::Ended.into());
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

pub(super) fn store(
    transaction: &Transaction<'_>,
    before: &Activity,
    after: &Activity,
    closed_at: Option<EpochMs>,
) -> Result<(), Stop> {
    let mut statement = transaction.prepare_cached(
        "UPDATE activities SET title = ?3, seckill_price_cents = ?4, starts_at = ?5, ends_at = ?6, per_user_limit = ?7,
            challenge = ?8, notice = ?9, status = ?10, resumes_at = ?11, closed_at = ?12,
            min_level = ?13, eligible_list = ?14, version = version + 1
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
        after.eligibility.min_level.map(i64::from),
        after.eligibility.list.map(small),
    ])?;
    if after.eligibility.list.is_none() && before.eligibility.list.is_some() {
        eligible::forget(transaction, before.id)?;
    }
    Ok(())
}

/// Reads the activity as it is now and writes what became of it.
pub(super) fn audited(
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
