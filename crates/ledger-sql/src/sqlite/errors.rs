//! What SQLite's errors mean to the caller: an outage is waited for, a rejected row is set aside. Everything that is not clearly
//! the row's fault is an outage, because a ticket set aside by mistake costs an operator's attention.

use std::path::Path;

use rusqlite::ErrorCode;
use seckill_ledger::{Conflict, Error};

/// Why a piece of work on the database stopped: its own decision, or SQLite. The transaction is rolled back in both cases.
#[derive(Debug)]
pub(super) enum Stop {
    Ledger(Error),
    Sqlite(rusqlite::Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Ledger(error)
    }
}

impl From<Conflict> for Stop {
    fn from(conflict: Conflict) -> Self {
        Self::Ledger(conflict.into())
    }
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Ledger(error) => error,
            Stop::Sqlite(error) => classify(&error),
        }
    }
}

/// A row or argument that can't be written or read, whatever is tried.
pub(super) fn rejected(what: impl Into<String>) -> Stop {
    Stop::Ledger(Error::Rejected(what.into()))
}

/// No row is [`Error::NotFound`], every other error stays.
pub(super) fn found<T>(row: rusqlite::Result<T>, what: &'static str) -> Result<T, Stop> {
    row.map_err(|error| match error {
        rusqlite::Error::QueryReturnedNoRows => Stop::Ledger(Error::NotFound(what)),
        other => Stop::Sqlite(other),
    })
}

/// Whether another connection held a lock that was needed.
pub(super) fn is_locked(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// The error with the file that it is about.
pub(super) fn at(path: &Path, error: Error) -> Error {
    let named = |what| format!("{}: {what}", path.display());
    match error {
        Error::Outage(what) => Error::Outage(named(what)),
        Error::Rejected(what) => Error::Rejected(named(what)),
        other => other,
    }
}

pub(super) fn classify(error: &rusqlite::Error) -> Error {
    use rusqlite::Error as Sqlite;
    match error {
        Sqlite::SqliteFailure(failure, _) => match failure.code {
            // SQLite's message names the constraint.
            ErrorCode::ConstraintViolation
            | ErrorCode::TooBig
            | ErrorCode::TypeMismatch
            | ErrorCode::ParameterOutOfRange => Error::Rejected(error.to_string()),
            _ => Error::Outage(error.to_string()),
        },
        // A value that does not fit its column, or a row that somebody else wrote.
        Sqlite::FromSqlConversionFailure(..)
        | Sqlite::IntegralValueOutOfRange(..)
        | Sqlite::ToSqlConversionFailure(_)
        | Sqlite::InvalidColumnType(..)
        | Sqlite::Utf8Error(..) => Error::Rejected(error.to_string()),
        _ => Error::Outage(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn check(code: i32, rejected: bool) {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        let said = classify(&error);
        assert_eq!(matches!(said, Error::Rejected(_)), rejected, "{code}: {said:?}");
        assert_eq!(matches!(said, Error::Outage(_)), !rejected, "{code}: {said:?}");
    }

    #[test]
    fn a_database_that_can_not_be_used_is_an_outage() {
        for code in [
            ffi::SQLITE_BUSY,
            ffi::SQLITE_BUSY_SNAPSHOT,
            ffi::SQLITE_LOCKED,
            ffi::SQLITE_FULL,
            ffi::SQLITE_IOERR,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_READONLY_DBMOVED,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_NOMEM,
            ffi::SQLITE_ERROR,
        ] {
            check(code, false);
        }
    }

    #[test]
    fn a_row_that_breaks_a_rule_is_rejected() {
        for code in [
            ffi::SQLITE_CONSTRAINT,
            ffi::SQLITE_CONSTRAINT_UNIQUE,
            ffi::SQLITE_CONSTRAINT_CHECK,
            ffi::SQLITE_TOOBIG,
            ffi::SQLITE_MISMATCH,
            ffi::SQLITE_RANGE,
        ] {
            check(code, true);
        }
    }
}
