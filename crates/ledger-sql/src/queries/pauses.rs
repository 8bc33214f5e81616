//! Whether an activity runs, is paused, or closed, and who spoke last about it.

use seckill_ledger::{Conflict, Context};
use seckill_sale::{Activity, ActivityId, EpochMs, Hold, Status};

use super::activities::activity;
use super::activity_changes::{audited, store};
use super::db::{OptionalExtension as _, Transaction, params};
use super::dialect;
use super::errors::Stop;
use super::rows::{STATUSES, small, word_of};

/// Pauses, resumes or closes.
pub(super) fn set_status(
    transaction: &Transaction<'_>,
    id: ActivityId,
    status: Status,
    resumes_at: Option<EpochMs>,
    context: &Context,
) -> Result<Activity, Stop> {
    dialect::lock_sale(transaction, id)?;
    note_word(transaction, id, context.now)?;
    status_set(transaction, id, status, resumes_at, context)
}

/// When an operator spoke last, by the store's clock: what waited for the ledger meanwhile is told from it.
fn note_word(transaction: &Transaction<'_>, id: ActivityId, at: EpochMs) -> Result<(), Stop> {
    let mut statement = transaction
        .prepare_cached("UPDATE activities SET word_at = ?2 WHERE id = ?1 AND (word_at IS NULL OR word_at < ?2)")?;
    statement.execute(params![small(id.get()), at.0])?;
    Ok(())
}

fn status_set(
    transaction: &Transaction<'_>,
    id: ActivityId,
    status: Status,
    resumes_at: Option<EpochMs>,
    context: &Context,
) -> Result<Activity, Stop> {
    let before = activity(transaction, id)?;
    let action = match (before.status, status) {
        (Status::Paused, Status::Paused) if before.resumes_at != resumes_at => "activity.pause",
        (present, wanted) if present == wanted => return Ok(before),
        (Status::Closed, _) => return Err(Conflict::Closed.into()),
        (_, Status::Closed) => "activity.close",
        (Status::Running, Status::Paused) => "activity.pause",
        (Status::Paused, Status::Running) => "activity.resume",
        (Status::Draft, _) => return Err(Conflict::Draft.into()),
        // Nothing becomes a draft again: the operator looks at something that was changed meanwhile.
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

/// Pauses, unless an operator has spoken since the sale was held, or the hold is one of an earlier sale that had the number. What ends by itself
/// is no such word.
pub(super) fn pause_held(
    transaction: &Transaction<'_>,
    id: ActivityId,
    hold: Hold,
    context: &Context,
) -> Result<Option<Activity>, Stop> {
    dialect::lock_sale(transaction, id)?;
    let mut statement =
        transaction.prepare_cached("SELECT coalesce(word_at, created_at) FROM activities WHERE id = ?1")?;
    let word_at: Option<i64> = statement
        .query_row(params![small(id.get())], |row| row.get(0))
        .optional()?;
    if word_at.is_some_and(|at| hold.held_at.0 < at) {
        return Ok(None);
    }
    note_word(transaction, id, hold.held_at)?;
    status_set(transaction, id, Status::Paused, hold.resumes_at, context).map(Some)
}

/// Resumes where the pause still ends at `due`.
pub(super) fn resume_due(
    transaction: &Transaction<'_>,
    id: ActivityId,
    due: EpochMs,
    context: &Context,
) -> Result<Option<Activity>, Stop> {
    dialect::lock_sale(transaction, id)?;
    let before = activity(transaction, id)?;
    let mut statement = transaction.prepare_cached(
        "UPDATE activities SET status = ?2, resumes_at = NULL, version = version + 1
         WHERE id = ?1 AND status = ?3 AND resumes_at = ?4",
    )?;
    let resumed = statement.execute(params![
        small(id.get()),
        word_of(&Status::Running, &STATUSES),
        word_of(&Status::Paused, &STATUSES),
        due.0,
    ])?;
    if resumed == 0 {
        return Ok(None);
    }
    audited(transaction, id, "activity.resume", &before, context).map(Some)
}
