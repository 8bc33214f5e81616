//! Pages of lists: where one begins, how long it may be, and how it is shown.

use axum::extract::Query;
use http::Uri;
use seckill_api::{Answer, Misread};
use seckill_ledger::{Error as Ledger, Page, PageRequest};
use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::error::Error;
use crate::input;

/// Rows of a page where the query says nothing.
const LIMIT_DEFAULT: u32 = 50;
/// Longest cursor that is handed on, in characters.
const CURSOR_LENGTH_MAX: usize = 256;

/// The query's members; unknown and doubled ones are refused.
pub(crate) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Error> {
    match Query::try_from_uri(uri) {
        Ok(Query(query)) => Ok(query),
        Err(rejection) => Err(misread(&rejection.body_text())),
    }
}

/// What is wrong with a query, out of what its reader says: it begins with what it tried to do. All members are texts, so that no value is of
/// the wrong kind.
fn misread(said: &str) -> Error {
    let kinds = ["unknown field `", "duplicate field `"];
    match kinds.iter().find_map(|kind| said.find(kind)) {
        Some(at) => Misread::of_said("", &said[at..]).into(),
        None => Error::Malformed("the query can't be read".into()),
    }
}

/// Where the page begins and how long it is.
pub(crate) fn page_request(limit: Option<&str>, cursor: Option<String>) -> Result<PageRequest, Error> {
    let limit = match limit {
        None => LIMIT_DEFAULT,
        Some(text) => input::digits(text)
            .and_then(|digits| digits.parse().ok())
            .filter(|limit| (1..=PageRequest::LIMIT_MAX).contains(limit))
            .ok_or_else(|| {
                Error::invalid(
                    "limit",
                    format!("must be a number from 1 to {}", PageRequest::LIMIT_MAX),
                )
            })?,
    };
    if cursor
        .as_ref()
        .is_some_and(|cursor| cursor.is_empty() || CURSOR_LENGTH_MAX < cursor.len())
    {
        return Err(foreign_cursor());
    }
    Ok(PageRequest { cursor, limit })
}

/// The query of a list that takes nothing else.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageQuery {
    limit: Option<String>,
    cursor: Option<String>,
}

impl PageQuery {
    pub(crate) fn of(uri: &Uri) -> Result<PageRequest, Error> {
        let Self { limit, cursor } = query(uri)?;
        page_request(limit.as_deref(), cursor)
    }
}

fn foreign_cursor() -> Error {
    Error::invalid("cursor", "is not one of this list")
}

/// A page out of the ledger: the only thing of the caller's in the question is the cursor.
pub(crate) fn rows<T>(page: Result<Page<T>, Ledger>) -> Result<Page<T>, Error> {
    page.map_err(|error| match error {
        Ledger::Rejected(_) => foreign_cursor(),
        error => error.into(),
    })
}

/// A page of a list that the ledger gives as a whole, by ascending numbers.
pub(crate) fn cut<T>(all: Vec<T>, request: &PageRequest, number: impl Fn(&T) -> u64) -> Result<Page<T>, Error> {
    let after = match &request.cursor {
        None => 0,
        Some(text) => input::digits(text)
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(foreign_cursor)?,
    };
    let mut behind = all.into_iter().filter(|row| after < number(row));
    let rows: Vec<T> = behind.by_ref().take(request.limit as usize).collect();
    let next = rows
        .last()
        .filter(|_| behind.next().is_some())
        .map(|last| number(last).to_string());
    Ok(Page { rows, next })
}

/// `{"<name>": […], "next_cursor": …}`.
struct List<'a, V> {
    name: &'static str,
    rows: Vec<V>,
    next_cursor: Option<&'a str>,
}

impl<V: Serialize> Serialize for List<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(2))?;
        members.serialize_entry(self.name, &self.rows)?;
        members.serialize_entry("next_cursor", &self.next_cursor)?;
        members.end()
    }
}

/// The answer that shows a page, each row by `view`.
pub(crate) fn answer<T, V: Serialize>(name: &'static str, page: &Page<T>, view: impl Fn(&T) -> V) -> Answer {
    Answer::fine(&List {
        name,
        rows: page.rows.iter().map(view).collect(),
        next_cursor: page.next.as_deref(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_cursors_are_read_strictly() {
        let limit = |text: Option<&str>| page_request(text, None).ok().map(|request| request.limit);
        assert_eq!((limit(None), limit(Some("500"))), (Some(50), Some(500)));
        for bad in ["0", "501", "-1", "1.5", "", "01", "x"] {
            assert_eq!(limit(Some(bad)), None, "{bad:?}");
        }
        assert!(page_request(None, Some("x".repeat(257))).is_err());
    }

    #[test]
    fn whole_lists_are_cut_into_pages_that_meet() {
        let mut cursor = None;
        let mut seen = Vec::new();
        loop {
            let page = cut(vec![1, 4, 5, 9], &PageRequest { cursor, limit: 2 }, |row| *row).unwrap();
            seen.push(page.rows);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, [[1, 4], [5, 9]]);
    }
}
