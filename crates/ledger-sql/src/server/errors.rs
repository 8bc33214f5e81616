//! What servers' errors mean: an outage is waited for, a conflict of two transactions is tried again, a rejected row is set aside.
//! Everything that is not clearly the row's fault is an outage.

use seckill_ledger::{Conflict, Error};

use super::causes::words;

/// What the server or the way to it said.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SqlError {
    /// A query for one row found none.
    #[error("a row that must be there is missing")]
    NoRows,
    /// A value that is none of ours.
    #[error("{0}")]
    Unreadable(String),
    /// What the driver said, in our words.
    #[error("{}", words(.0))]
    Driver(#[from] sqlx::Error),
    /// The connection can't be used any more.
    #[error("{0}")]
    Broken(String),
    /// What was read without a lock had changed when it was locked.
    #[error("other transactions were faster")]
    Overtaken,
}

/// Why a piece of work on the database stopped: its own decision, or the server. The transaction is rolled back in both cases.
#[derive(Debug)]
pub(crate) enum Stop {
    Ledger(Error),
    Sql(SqlError),
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

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Self {
        Self::Sql(error)
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Ledger(error) => error,
            Stop::Sql(error) => {
                let said = error.to_string();
                if let SqlError::Driver(cause) = &error {
                    tracing::debug!(%cause, said, "the database refused something");
                }
                match class(&error) {
                    Class::Row | Class::Twin => Self::Rejected(said),
                    Class::Contest | Class::Outage | Class::Broken => Self::Outage(said),
                }
            }
        }
    }
}

/// A row or argument that can't be written or read, whatever is tried.
pub(crate) fn rejected(what: impl Into<String>) -> Stop {
    Stop::Ledger(Error::Rejected(what.into()))
}

/// No row is [`Error::NotFound`], every other error stays.
pub(crate) fn found<T>(row: Result<T, SqlError>, what: &'static str) -> Result<T, Stop> {
    row.map_err(|error| match error {
        SqlError::NoRows => Stop::Ledger(Error::NotFound(what)),
        other => Stop::Sql(other),
    })
}

/// What to do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The row can't be written, whatever is tried.
    Row,
    /// A unique key is taken. By a transaction that came first, perhaps: then reading again finds its row.
    Twin,
    /// Two transactions were in each other's way, and this one was undone: do it again.
    Contest,
    /// The server can't do it now.
    Outage,
    /// As an outage, and the connection is gone.
    Broken,
}

pub(super) fn class(error: &SqlError) -> Class {
    match error {
        SqlError::NoRows => Class::Outage,
        SqlError::Unreadable(_) => Class::Row,
        SqlError::Broken(_) => Class::Broken,
        SqlError::Overtaken => Class::Contest,
        SqlError::Driver(sqlx::Error::Database(error)) => {
            if let Some(error) = error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
                class_mysql(error.number())
            } else {
                class_postgres(&error.code().unwrap_or_default())
            }
        }
        SqlError::Driver(sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::Encode(_)) => {
            Class::Row
        }
        SqlError::Driver(_) => Class::Broken,
    }
}

/// Whether the user lacks a right that only the server's owner can give.
pub(super) fn is_denied(error: &SqlError) -> bool {
    let SqlError::Driver(sqlx::Error::Database(error)) = error else {
        return false;
    };
    match error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
        Some(error) => matches!(error.number(), 1044 | 1142 | 1143 | 1227),
        None => error.code().is_some_and(|code| code == "42501"),
    }
}

/// SQLSTATE.
fn class_postgres(code: &str) -> Class {
    match code {
        "23505" => Class::Twin,
        // Serialization failure, deadlock. Not a lock that was waited for in vain: that wait is not begun anew.
        "40001" | "40P01" => Class::Contest,
        // Data exception, broken rule, row too big for an index or a page.
        _ if code.starts_with("22") || code.starts_with("23") => Class::Row,
        "54000" | "54001" => Class::Row,
        // Connection, operator intervention, a transaction that stood still for too long.
        _ if code.starts_with("08") || code.starts_with("57P") || code == "25P03" => Class::Broken,
        _ => Class::Outage,
    }
}

/// Numbers of MariaDB and MySQL.
fn class_mysql(number: u16) -> Class {
    match number {
        // A duplicate key.
        1062 | 1586 => Class::Twin,
        // Deadlock, a row that changed since the snapshot, a table that changed since the snapshot or since the statement was prepared, a
        // commit that another member of a MySQL group was faster than.
        1213 | 1020 | 1412 | 1615 | 3101 => Class::Contest,
        // Null, no default, foreign keys, a wrong or too long value, out of range, CHECK, bad UTF-8.
        1048 | 1364 | 1216 | 1217 | 1451 | 1452 | 1264 | 1265 | 1366 | 1406 | 1690 | 3819 | 4025 | 1300 | 3988 => {
            Class::Row
        }
        // Shutting down, killed, too many connections, timed out reading, closed because it stood still.
        1053 | 1317 | 1040 | 1158..=1161 | 1927 | 4031 => Class::Broken,
        _ => Class::Outage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_breaks_a_rule_is_rejected_and_a_contest_is_tried_again() {
        for code in ["23514", "22001", "22021", "54000"] {
            assert_eq!(class_postgres(code), Class::Row, "{code}");
        }
        for code in ["40001", "40P01"] {
            assert_eq!(class_postgres(code), Class::Contest, "{code}");
        }
        for number in [1406, 4025, 3819, 1264] {
            assert_eq!(class_mysql(number), Class::Row, "{number}");
        }
        for number in [1213, 1020, 3101] {
            assert_eq!(class_mysql(number), Class::Contest, "{number}");
        }
    }

    #[test]
    fn a_server_that_can_not_be_used_is_an_outage() {
        for code in ["53100", "53200", "25006", "42P01", "55P03"] {
            assert_eq!(class_postgres(code), Class::Outage, "{code}");
        }
        for code in ["57P01", "57P03", "08006", "25P03"] {
            assert_eq!(class_postgres(code), Class::Broken, "{code}");
        }
        for number in [1021, 1290, 1146, 1205] {
            assert_eq!(class_mysql(number), Class::Outage, "{number}");
        }
        for number in [1053, 4031] {
            assert_eq!(class_mysql(number), Class::Broken, "{number}");
        }
    }
}
