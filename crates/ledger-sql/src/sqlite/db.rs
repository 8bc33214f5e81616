//! What the shared queries call their driver: rusqlite itself.

use std::error::Error as StdError;

use rusqlite::types::Type;

pub(crate) use rusqlite::types::ValueRef;
pub(crate) use rusqlite::{
    CachedStatement, OptionalExtension, Params, Row, RowIndex, Statement, ToSql, Transaction, params,
};

pub(crate) type SqlResult<T> = rusqlite::Result<T>;

/// The error of a value that is none of ours.
pub(crate) fn unreadable(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, cause.into())
}
