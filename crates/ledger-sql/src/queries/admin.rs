//! What every write of an operator has in common: its idempotency key and its audit row, in the same transaction.

use super::db::{Transaction, params};
use seckill_ledger::{AuditRow, Context, Error};
use serde_json::Value;

use super::errors::{Stop, rejected};
use super::rows::{SqlResult, moment, small, unsigned};

/// Does `work` once under the context's key: it returns its result with the id that `again` finds it by when the same request comes
/// again. Without a key it is done each time.
///
/// One request may do several actions under one key; another digest under that key is another request, whatever it asks.
pub(super) fn once<T>(
    transaction: &Transaction<'_>,
    context: &Context,
    action: &str,
    work: impl FnOnce() -> Result<(T, u64), Stop>,
    again: impl FnOnce(u64) -> Result<T, Stop>,
) -> Result<T, Stop> {
    let Some(idempotency) = &context.idempotency else {
        return work().map(|(done, _)| done);
    };
    let mut statement = transaction
        .prepare_cached("SELECT digest, result_id, action = ?2 FROM admin_requests WHERE request_key = ?1")?;
    let earlier = statement
        .query_map(params![idempotency.key, action], |row| {
            Ok((row.get::<_, [u8; 16]>(0)?, unsigned(row, 1)?, row.get::<_, bool>(2)?))
        })?
        .collect::<SqlResult<Vec<_>>>()?;
    if earlier.iter().any(|(digest, ..)| *digest != idempotency.digest) {
        return Err(Error::KeyReused.into());
    }
    if let Some(&(_, result_id, _)) = earlier.iter().find(|&&(_, _, same_action)| same_action) {
        idempotency.replayed.tell();
        return again(result_id);
    }
    let (done, result_id) = work()?;
    let mut statement = transaction.prepare_cached(
        "INSERT INTO admin_requests (request_key, action, digest, result_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    statement.execute(params![
        idempotency.key,
        action,
        idempotency.digest,
        small(result_id),
        context.now.0
    ])?;
    Ok(done)
}

/// Writes an audit row; [`Value::Null`] stands for nothing before or after.
pub(super) fn audit(
    transaction: &Transaction<'_>,
    context: &Context,
    action: &str,
    subject: &str,
    before: &Value,
    after: &Value,
) -> Result<(), Stop> {
    let text = |value: &Value| {
        if value.is_null() {
            String::new()
        } else {
            value.to_string()
        }
    };
    audit_text(transaction, context, action, subject, &text(before), &text(after))
}

/// As [`audit`], with the JSON as text.
pub(super) fn audit_text(
    transaction: &Transaction<'_>,
    context: &Context,
    action: &str,
    subject: &str,
    before: &str,
    after: &str,
) -> Result<(), Stop> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO audit_rows (at, actor, action, subject, \"before\", \"after\") VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    statement.execute(params![context.now.0, context.actor, action, subject, before, after])?;
    Ok(())
}

pub(super) const AUDIT_ROW: &str = "id, at, actor, action, subject, \"before\", \"after\"";

pub(super) fn audit_row(row: &super::db::Row<'_>) -> SqlResult<AuditRow> {
    Ok(AuditRow {
        id: unsigned(row, 0)?,
        at: moment(row, 1)?,
        actor: row.get(2)?,
        action: row.get(3)?,
        subject: row.get(4)?,
        before: row.get(5)?,
        after: row.get(6)?,
    })
}

/// A row's number out of a caller's id; none is larger.
pub(super) fn row_id(id: u64) -> Result<i64, Stop> {
    i64::try_from(id).map_err(|_| rejected(format!("no row has the number {id}")))
}
