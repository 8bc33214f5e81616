//! Values on their way to a server and back. Text comes back as bytes: what a column means is decided by who reads it.

use std::error::Error as StdError;

use super::errors::SqlError;

pub(crate) type SqlResult<T> = Result<T, SqlError>;

/// The error of a value that is none of ours.
pub(crate) fn unreadable(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> SqlError {
    SqlError::Unreadable(cause.into().to_string())
}

/// A parameter. A missing one has a type too, because servers want to know it.
#[derive(Debug, Clone)]
pub(crate) enum Parameter {
    Number(Option<i64>),
    Text(Option<String>),
    Bytes(Vec<u8>),
    /// Columns of many rows; PostgreSQL only.
    Numbers(Vec<i64>),
    Texts(Vec<String>),
    ManyBytes(Vec<Vec<u8>>),
}

impl Parameter {
    /// Adds the value of one more row to a column. The first one makes it.
    pub(super) fn gather(&mut self, value: Self) -> SqlResult<()> {
        match (&mut *self, value) {
            (Self::Numbers(column), Self::Number(Some(number))) => column.push(number),
            (Self::Texts(column), Self::Text(Some(text))) => column.push(text),
            (Self::ManyBytes(column), Self::Bytes(bytes)) => column.push(bytes),
            (Self::Number(None), Self::Number(Some(number))) => *self = Self::Numbers(vec![number]),
            (Self::Number(None), Self::Text(Some(text))) => *self = Self::Texts(vec![text]),
            (Self::Number(None), Self::Bytes(bytes)) => *self = Self::ManyBytes(vec![bytes]),
            (column, value) => return Err(unreadable(format!("{value:?} is no value of {column:?}"))),
        }
        Ok(())
    }
}

/// What can be a parameter.
pub(crate) trait ToSql {
    fn parameter(&self) -> Parameter;
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl ToSql for $type {
            fn parameter(&self) -> Parameter {
                Parameter::Number(Some(i64::from(*self)))
            }
        }
    )*};
}
numbers!(i64, u32, u16, bool);

impl ToSql for Option<i64> {
    fn parameter(&self) -> Parameter {
        Parameter::Number(*self)
    }
}

impl ToSql for &str {
    fn parameter(&self) -> Parameter {
        Parameter::Text(Some((*self).to_owned()))
    }
}

impl ToSql for Option<&str> {
    fn parameter(&self) -> Parameter {
        Parameter::Text(self.map(str::to_owned))
    }
}

impl ToSql for String {
    fn parameter(&self) -> Parameter {
        Parameter::Text(Some(self.clone()))
    }
}

impl ToSql for Option<String> {
    fn parameter(&self) -> Parameter {
        Parameter::Text(self.clone())
    }
}

impl ToSql for [u8; 16] {
    fn parameter(&self) -> Parameter {
        Parameter::Bytes(self.to_vec())
    }
}

impl ToSql for &[u8] {
    fn parameter(&self) -> Parameter {
        Parameter::Bytes(self.to_vec())
    }
}

impl ToSql for &dyn ToSql {
    fn parameter(&self) -> Parameter {
        (**self).parameter()
    }
}

impl ToSql for &String {
    fn parameter(&self) -> Parameter {
        Parameter::Text(Some((*self).clone()))
    }
}

/// A list of parameters.
pub(crate) trait Params {
    fn parameters(self) -> Vec<Parameter>;
}

impl Params for &[&dyn ToSql] {
    fn parameters(self) -> Vec<Parameter> {
        self.iter().map(|value| value.parameter()).collect()
    }
}

impl Params for [&(dyn ToSql + Send + Sync); 0] {
    fn parameters(self) -> Vec<Parameter> {
        Vec::new()
    }
}

macro_rules! arrays {
    ($($length:literal),*) => {$(
        impl<T: ToSql> Params for [T; $length] {
            fn parameters(self) -> Vec<Parameter> {
                self.iter().map(ToSql::parameter).collect()
            }
        }
    )*};
}
arrays!(1, 2, 3, 4);

macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$(&$value as &dyn super::db::ToSql),*] as &[&dyn super::db::ToSql]
    };
}
pub(crate) use params;

/// What a row holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Number(i64),
    Bytes(Vec<u8>),
}

/// A value as the readers look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueRef<'a> {
    Null,
    Number(i64),
    Bytes(&'a [u8]),
}

impl<'a> ValueRef<'a> {
    pub(crate) fn as_str(self) -> SqlResult<&'a str> {
        match self {
            Self::Bytes(bytes) => std::str::from_utf8(bytes).map_err(unreadable),
            other => Err(unreadable(format!("{other:?} is no text"))),
        }
    }

    pub(crate) fn as_blob(self) -> SqlResult<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            other => Err(unreadable(format!("{other:?} is no bytes"))),
        }
    }

    pub(crate) fn as_str_or_null(self) -> SqlResult<Option<&'a str>> {
        match self {
            Self::Null => Ok(None),
            other => other.as_str().map(Some),
        }
    }
}
