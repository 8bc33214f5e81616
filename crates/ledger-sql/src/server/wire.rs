//! One connection to a server, by sqlx's drivers: with `binding.rs`, what knows their types.

use std::fmt;
use std::str::FromStr as _;

use seckill_ledger::Error;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlRow};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Decode, MySql, Postgres, Row as _, TypeInfo as _,
    ValueRef as _,
};

use super::binding::{query_of_mysql, query_of_postgres};
use super::translate::{Family, Translated};
use super::values::{Parameter, SqlResult, Value, unreadable};

/// Statements that a connection keeps prepared: all of the ledger's, with the batch inserts in each of their sizes.
const STATEMENTS_KEPT_MAX: usize = 256;

/// Where the server is, and who we are there.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Postgres(Box<PgConnectOptions>),
    MySql(Box<MySqlConnectOptions>),
}

impl Target {
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        // The driver's error may show the address with its password: what is wrong is said without it.
        let wrong = |_| Error::Rejected("database.url is no address of a database server".to_owned());
        match url.split_once("://") {
            Some(("postgres" | "postgresql", _)) => {
                let options = PgConnectOptions::from_str(url).map_err(wrong)?;
                let options = options.statement_cache_capacity(STATEMENTS_KEPT_MAX);
                Ok(Self::Postgres(Box::new(
                    options.application_name("seckill").disable_statement_logging(),
                )))
            }
            Some(("mysql" | "mariadb", rest)) => {
                let options = MySqlConnectOptions::from_str(&format!("mysql://{rest}")).map_err(wrong)?;
                let options = options.statement_cache_capacity(STATEMENTS_KEPT_MAX).charset("utf8mb4");
                Ok(Self::MySql(Box::new(options.disable_statement_logging())))
            }
            _ => Err(Error::Rejected(
                "database.url must begin with postgres://, mariadb:// or mysql://".to_owned(),
            )),
        }
    }

    pub(super) const fn family(&self) -> Family {
        match self {
            Self::Postgres(_) => Family::Postgres,
            Self::MySql(_) => Family::MySql,
        }
    }

    pub(super) async fn connect(&self) -> SqlResult<Wire> {
        Ok(match self {
            Self::Postgres(options) => Wire::Postgres(Box::new(PgConnection::connect_with(options).await?)),
            Self::MySql(options) => Wire::MySql(Box::new(MySqlConnection::connect_with(options).await?)),
        })
    }
}

/// Without the password.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port, database, user) = match self {
            Self::Postgres(to) => (to.get_host(), to.get_port(), to.get_database(), to.get_username()),
            Self::MySql(to) => (to.get_host(), to.get_port(), to.get_database(), to.get_username()),
        };
        let database = database.unwrap_or(user);
        write!(f, "the database {database:?} on {host}:{port}, as user {user:?},")
    }
}

/// A connection.
pub(super) enum Wire {
    Postgres(Box<PgConnection>),
    MySql(Box<MySqlConnection>),
}

/// What a statement without rows did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Done {
    /// Rows that it found to change.
    pub(super) rows: u64,
    /// Number of the row that it inserted; MySQL only.
    pub(super) inserted: u64,
}

impl Wire {
    /// Statements without parameters, one after the other.
    pub(super) async fn say(&mut self, sql: &str) -> SqlResult<()> {
        let raw = sqlx::raw_sql(AssertSqlSafe(sql));
        match self {
            Self::Postgres(wire) => _ = raw.execute(&mut **wire).await?,
            Self::MySql(wire) => _ = raw.execute(&mut **wire).await?,
        }
        Ok(())
    }

    pub(super) async fn execute(&mut self, said: &Translated, parameters: &[Parameter]) -> SqlResult<Done> {
        match self {
            Self::Postgres(wire) => {
                let query = query_of_postgres(said, parameters)?;
                let done = query.execute(&mut **wire).await?;
                Ok(Done {
                    rows: done.rows_affected(),
                    inserted: 0,
                })
            }
            Self::MySql(wire) => {
                let query = query_of_mysql(said, parameters)?;
                let done = query.execute(&mut **wire).await?;
                Ok(Done {
                    rows: done.rows_affected(),
                    inserted: done.last_insert_id(),
                })
            }
        }
    }

    pub(super) async fn rows(&mut self, said: &Translated, parameters: &[Parameter]) -> SqlResult<Vec<Vec<Value>>> {
        match self {
            Self::Postgres(wire) => {
                let query = query_of_postgres(said, parameters)?;
                let rows = query.fetch_all(&mut **wire).await?;
                rows.iter().map(row_of_postgres).collect()
            }
            Self::MySql(wire) => {
                let query = query_of_mysql(said, parameters)?;
                let rows = query.fetch_all(&mut **wire).await?;
                rows.iter().map(row_of_mysql).collect()
            }
        }
    }

    /// Says goodbye.
    pub(super) async fn close(self) {
        // Whether the server hears it makes no difference: it notices the closed socket too.
        let _ = match self {
            Self::Postgres(wire) => wire.close().await,
            Self::MySql(wire) => wire.close().await,
        };
    }
}

fn row_of_postgres(row: &PgRow) -> SqlResult<Vec<Value>> {
    let value = |at| {
        let raw = row.try_get_raw(at)?;
        if raw.is_null() {
            return Ok(Value::Null);
        }
        let kind = raw.type_info().name().to_owned();
        Ok(match &*kind {
            "INT8" => Value::Number(<i64 as Decode<Postgres>>::decode(raw).map_err(unreadable)?),
            "INT4" => Value::Number(<i32 as Decode<Postgres>>::decode(raw).map_err(unreadable)?.into()),
            "INT2" => Value::Number(<i16 as Decode<Postgres>>::decode(raw).map_err(unreadable)?.into()),
            "BOOL" => Value::Number(<bool as Decode<Postgres>>::decode(raw).map_err(unreadable)?.into()),
            _ => Value::Bytes(raw.as_bytes().map_err(unreadable)?.to_vec()),
        })
    };
    (0..row.len()).map(value).collect()
}

fn row_of_mysql(row: &MySqlRow) -> SqlResult<Vec<Value>> {
    let value = |at| {
        let raw = row.try_get_raw(at)?;
        if raw.is_null() {
            return Ok(Value::Null);
        }
        let kind = raw.type_info().name().to_owned();
        Ok(match &*kind {
            "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => {
                Value::Number(<i64 as Decode<MySql>>::decode(raw).map_err(unreadable)?)
            }
            _ => Value::Bytes(<&[u8] as Decode<MySql>>::decode(raw).map_err(unreadable)?.to_vec()),
        })
    };
    (0..row.len()).map(value).collect()
}
