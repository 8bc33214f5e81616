//! Rows as the shared queries read them.

use std::marker::PhantomData;

use super::errors::SqlError;
use super::values::{SqlResult, Value, ValueRef, unreadable};

/// A row; the lifetime is that of other drivers' rows.
pub(crate) struct Row<'a> {
    values: Vec<Value>,
    lifetime: PhantomData<&'a ()>,
}

impl From<Vec<Value>> for Row<'_> {
    fn from(values: Vec<Value>) -> Self {
        Self {
            values,
            lifetime: PhantomData,
        }
    }
}

/// A column's place.
pub(crate) trait RowIndex {
    fn place(self) -> usize;
}

impl RowIndex for usize {
    fn place(self) -> usize {
        self
    }
}

/// What a column can be read as.
pub(crate) trait FromValue: Sized {
    fn read(value: ValueRef<'_>) -> SqlResult<Self>;
}

impl Row<'_> {
    pub(crate) fn get_ref(&self, at: impl RowIndex) -> SqlResult<ValueRef<'_>> {
        let at = at.place();
        match self.values.get(at) {
            Some(Value::Null) => Ok(ValueRef::Null),
            Some(Value::Number(number)) => Ok(ValueRef::Number(*number)),
            Some(Value::Bytes(bytes)) => Ok(ValueRef::Bytes(bytes)),
            None => Err(unreadable(format!("there is no column {at}"))),
        }
    }

    pub(crate) fn get<I: RowIndex, T: FromValue>(&self, at: I) -> SqlResult<T> {
        T::read(self.get_ref(at)?)
    }
}

impl FromValue for i64 {
    fn read(value: ValueRef<'_>) -> SqlResult<Self> {
        match value {
            ValueRef::Number(number) => Ok(number),
            other => Err(unreadable(format!("{other:?} is no number"))),
        }
    }
}

impl FromValue for bool {
    fn read(value: ValueRef<'_>) -> SqlResult<Self> {
        Ok(i64::read(value)? != 0)
    }
}

macro_rules! smaller {
    ($($type:ty),*) => {$(
        impl FromValue for $type {
            fn read(value: ValueRef<'_>) -> SqlResult<Self> {
                Self::try_from(i64::read(value)?).map_err(unreadable)
            }
        }
    )*};
}
smaller!(u16, u32);

impl FromValue for String {
    fn read(value: ValueRef<'_>) -> SqlResult<Self> {
        value.as_str().map(str::to_owned)
    }
}

impl FromValue for [u8; 16] {
    fn read(value: ValueRef<'_>) -> SqlResult<Self> {
        match value {
            ValueRef::Bytes(bytes) => bytes.try_into().map_err(unreadable),
            other => Err(unreadable(format!("{other:?} is not 16 bytes"))),
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn read(value: ValueRef<'_>) -> SqlResult<Self> {
        match value {
            ValueRef::Null => Ok(None),
            other => T::read(other).map(Some),
        }
    }
}

/// No row is no error to whoever asks in this way.
pub(crate) trait OptionalExtension<T> {
    fn optional(self) -> SqlResult<Option<T>>;
}

impl<T> OptionalExtension<T> for SqlResult<T> {
    fn optional(self) -> SqlResult<Option<T>> {
        match self {
            Ok(row) => Ok(Some(row)),
            Err(SqlError::NoRows) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
