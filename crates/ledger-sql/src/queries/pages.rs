//! Pages of lists: each row's key is the cursor of the page behind it.

use super::db::Row;
use seckill_ledger::{Page, PageRequest};

use super::errors::{Stop, rejected};
use super::rows::SqlResult;

/// Rows of a page and one more, by which the next page is known to exist.
pub(super) fn limit(page: &PageRequest) -> i64 {
    i64::from(page.limit.clamp(1, PageRequest::LIMIT_MAX)) + 1
}

/// The cursor as a row's number; `first` where the list begins.
pub(super) fn number_cursor(page: &PageRequest, first: i64) -> Result<i64, Stop> {
    match &page.cursor {
        None => Ok(first),
        Some(text) => text.parse().map_err(|_| rejected("the cursor is not one of this list")),
    }
}

/// Cuts the row too many off and names the last one that stays.
pub(super) fn page<T>(request: &PageRequest, mut rows: Vec<T>, key: impl FnOnce(&T) -> String) -> Page<T> {
    let length = request.limit.clamp(1, PageRequest::LIMIT_MAX) as usize;
    let more = length < rows.len();
    rows.truncate(length);
    let next = rows.last().filter(|_| more).map(key);
    Page { rows, next }
}

/// All rows of a query that is bounded by its LIMIT or by what operators made.
pub(super) fn collect<T>(
    statement: &mut super::db::Statement<'_>,
    parameters: impl super::db::Params,
    read: impl FnMut(&Row<'_>) -> SqlResult<T>,
) -> Result<Vec<T>, Stop> {
    Ok(statement.query_map(parameters, read)?.collect::<SqlResult<_>>()?)
}
