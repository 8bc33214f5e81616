//! What the shared queries call their driver: the same names as rusqlite's.

pub(crate) use super::rows::{OptionalExtension, Row, RowIndex};
pub(crate) use super::statement::{CachedStatement, Statement, Transaction};
pub(crate) use super::values::{Params, SqlResult, ToSql, ValueRef, params, unreadable};
