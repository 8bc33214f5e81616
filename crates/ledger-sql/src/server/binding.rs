//! Queries with their parameters, as sqlx's drivers want them.

use std::sync::Arc;

use sqlx::mysql::MySqlArguments;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, MySql, Postgres};

use super::translate::Translated;
use super::values::{Parameter, SqlResult, unreadable};

/// The parameters that each place of the text wants.
fn wanted<'a>(said: &Translated, parameters: &'a [Parameter]) -> impl Iterator<Item = SqlResult<&'a Parameter>> {
    let parameter = |place: &usize| {
        parameters
            .get(place - 1)
            .ok_or_else(|| unreadable("a parameter is missing"))
    };
    said.places.iter().map(parameter)
}

pub(super) fn query_of_postgres(
    said: &Translated,
    parameters: &[Parameter],
) -> SqlResult<Query<'static, Postgres, PgArguments>> {
    let query = sqlx::query(AssertSqlSafe(Arc::clone(&said.sql)));
    wanted(said, parameters).try_fold(query, |query, parameter| {
        Ok(match parameter? {
            Parameter::Number(number) => query.bind(*number),
            Parameter::Text(text) => query.bind(text.as_deref()),
            Parameter::Bytes(bytes) => query.bind(&bytes[..]),
            Parameter::Numbers(column) => query.bind(&column[..]),
            Parameter::Texts(column) => query.bind(&column[..]),
            Parameter::ManyBytes(column) => query.bind(&column[..]),
        })
    })
}

pub(super) fn query_of_mysql(
    said: &Translated,
    parameters: &[Parameter],
) -> SqlResult<Query<'static, MySql, MySqlArguments>> {
    let query = sqlx::query(AssertSqlSafe(Arc::clone(&said.sql)));
    wanted(said, parameters).try_fold(query, |query, parameter| {
        Ok(match parameter? {
            Parameter::Number(number) => query.bind(*number),
            Parameter::Text(text) => query.bind(text.as_deref()),
            Parameter::Bytes(bytes) => query.bind(&bytes[..]),
            Parameter::Numbers(_) | Parameter::Texts(_) | Parameter::ManyBytes(_) => {
                return Err(unreadable("this database takes no columns of rows"));
            }
        })
    })
}
