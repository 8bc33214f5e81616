//! Reading records of tickets, each with whether its order is there.

use super::db::{OptionalExtension as _, Row, Transaction, params};
use seckill_ledger::{LedgerRecord, Page, PageRequest, RecordState};
use seckill_sale::{ActivityId, RequestKey, Ticket, UserId};

use super::errors::Stop;
use super::pages::{collect, limit, page};
use super::rows::{SqlResult, moment, number, record_state, small, ticket, user};

/// The order is found by its user, and is this ticket's only if it has its number.
const RECORD: &str = "SELECT r.activity_id, r.epoch, r.sequence, r.user_id, r.quantity, r.request_key, r.accepted_at,
    r.state, r.reason, o.order_no
    FROM records r LEFT JOIN orders o ON o.user_id = r.user_id AND o.activity_id = r.activity_id";

fn read_record(row: &Row<'_>) -> SqlResult<LedgerRecord> {
    let ticket = ticket(row, 0)?;
    let reason: Option<String> = row.get(8)?;
    let state = record_state(row.get(7)?, reason.as_deref())?;
    let order_no: Option<String> = row.get(9)?;
    Ok(LedgerRecord {
        ticket,
        user: user(row, 3)?,
        quantity: number(row, 4)?,
        key: RequestKey(row.get(5)?),
        accepted_at: moment(row, 6)?,
        state,
        has_order: order_no.is_some_and(|number| number == ticket.order_no().to_string()),
        parked_reason: reason.filter(|_| state == RecordState::Parked).unwrap_or_default(),
    })
}

pub(super) fn record(
    transaction: &Transaction<'_>,
    activity: ActivityId,
    user: &UserId,
) -> Result<Option<LedgerRecord>, Stop> {
    let sql = format!("{RECORD} WHERE r.activity_id = ?1 AND r.user_id = ?2");
    let mut statement = transaction.prepare_cached(&sql)?;
    let row = statement.query_row(params![small(activity.get()), user.as_str()], read_record);
    Ok(row.optional()?)
}

pub(super) fn newest_ticket(transaction: &Transaction<'_>, activity: ActivityId) -> Result<Option<Ticket>, Stop> {
    const NEWEST: &str =
        "SELECT activity_id, epoch, sequence FROM records WHERE activity_id = ?1 ORDER BY sequence DESC LIMIT 1";
    let mut statement = transaction.prepare_cached(NEWEST)?;
    let row = statement.query_row([small(activity.get())], |row| ticket(row, 0));
    Ok(row.optional()?)
}

/// By user; the cursor is the last user, and no user is empty.
pub(super) fn page_of_records(
    transaction: &Transaction<'_>,
    activity: ActivityId,
    request: &PageRequest,
) -> Result<Page<LedgerRecord>, Stop> {
    let sql = format!("{RECORD} WHERE r.activity_id = ?1 AND r.user_id > ?2 ORDER BY r.user_id LIMIT ?3");
    let after = request.cursor.as_deref().unwrap_or_default();
    let bounds = params![small(activity.get()), after, limit(request)];
    let rows = collect(&mut *transaction.prepare_cached(&sql)?, bounds, read_record)?;
    Ok(page(request, rows, |last| last.user.to_string()))
}
