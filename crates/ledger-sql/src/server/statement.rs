//! A transaction and its statements, as the shared queries use them: blocking, by the connection's own runtime.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::errors::SqlError;
use super::rows::Row;
use super::session::Session;
use super::translate::{Family, Translated};
use super::values::{Parameter, Params, SqlResult, ToSql};
use super::wire::Done;
use crate::gathering::{Columns, Gathering};

/// A transaction that was begun. Whoever drops it without an end loses its connection, and the server undoes it.
pub(crate) struct Transaction<'c> {
    pub(super) session: RefCell<Session>,
    /// A statement failed: there is no commit any more. PostgreSQL would answer it with a rollback and no error, MariaDB would keep what
    /// the other statements did.
    pub(super) failed: Cell<bool>,
    /// The work was undone before, because it stood in another one's way or the other way round.
    pub(super) is_repeated: bool,
    /// As [`super::ServerOptions::counts_batches`].
    pub(super) counts_batches: bool,
    pub(super) lifetime: PhantomData<&'c ()>,
}

impl Transaction<'_> {
    pub(crate) fn prepare_cached(&self, query: &str) -> SqlResult<CachedStatement<'_>> {
        let translated = self.session.borrow_mut().translated(query);
        Ok(CachedStatement(Statement {
            transaction: self,
            translated,
            bound: Vec::new(),
            columns: None,
        }))
    }

    /// The same for a statement that takes columns of many rows.
    pub(super) fn prepare_gathering(&self, gathering: &Gathering) -> SqlResult<CachedStatement<'_>> {
        let mut statement = self.prepare_cached(&gathering.sql)?;
        statement.0.columns = Some(gathering.columns);
        Ok(statement)
    }

    pub(super) fn family(&self) -> Family {
        self.session.borrow().family()
    }

    fn noting<T>(&self, done: SqlResult<T>) -> SqlResult<T> {
        if done.is_err() {
            self.failed.set(true);
        }
        done
    }
}

/// A statement of a transaction.
pub(crate) struct Statement<'t> {
    transaction: &'t Transaction<'t>,
    translated: Arc<Translated>,
    bound: Vec<Parameter>,
    /// Where it takes the columns of many rows.
    columns: Option<Columns>,
}

/// The name under which another driver keeps statements; here the connection does.
pub(crate) struct CachedStatement<'t>(Statement<'t>);

impl<'t> Deref for CachedStatement<'t> {
    type Target = Statement<'t>;

    fn deref(&self) -> &Statement<'t> {
        &self.0
    }
}

impl DerefMut for CachedStatement<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Statement<'_> {
    fn rows(&self, parameters: &[Parameter]) -> SqlResult<Vec<Row<'static>>> {
        let mut session = self.transaction.session.borrow_mut();
        let rows = self.transaction.noting(session.rows(&self.translated, parameters))?;
        Ok(rows.into_iter().map(Row::from).collect())
    }

    fn done(&self, parameters: &[Parameter]) -> SqlResult<Done> {
        let mut session = self.transaction.session.borrow_mut();
        self.transaction.noting(session.execute(&self.translated, parameters))
    }

    pub(crate) fn query_row<T>(
        &mut self,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let rows = self.rows(&params.parameters())?;
        rows.first().map_or(Err(SqlError::NoRows), read)
    }

    pub(crate) fn query_map<T>(
        &mut self,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<impl Iterator<Item = SqlResult<T>>> {
        let rows = self.rows(&params.parameters())?;
        Ok(rows.into_iter().map(move |row| read(&row)))
    }

    pub(crate) fn exists(&mut self, params: impl Params) -> SqlResult<bool> {
        Ok(!self.rows(&params.parameters())?.is_empty())
    }

    /// How many rows it found to change.
    pub(crate) fn execute(&mut self, params: impl Params) -> SqlResult<u64> {
        Ok(self.done(&params.parameters())?.rows)
    }

    /// Inserts one row and gives its number.
    pub(crate) fn insert(&mut self, params: impl Params) -> SqlResult<i64> {
        let parameters = params.parameters();
        match self.transaction.family() {
            Family::MySql => Ok(self.done(&parameters)?.inserted.cast_signed()),
            Family::Postgres => {
                self.translated = Arc::new(Translated {
                    sql: format!("{} RETURNING id", self.translated.sql).into(),
                    places: self.translated.places.clone(),
                });
                let rows = self.rows(&parameters)?;
                rows.first().map_or(Err(SqlError::NoRows), |row| row.get(0))
            }
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "as the other driver takes it")]
    pub(crate) fn raw_bind_parameter(&mut self, place: usize, value: impl ToSql) -> SqlResult<()> {
        let at = self.columns.map_or(place, |columns| columns.gathered(place));
        if self.bound.len() < at {
            self.bound.resize(at, Parameter::Number(None));
        }
        match self.columns {
            Some(columns) if columns.shared < at => self.bound[at - 1].gather(value.parameter()),
            _ => {
                self.bound[at - 1] = value.parameter();
                Ok(())
            }
        }
    }

    pub(crate) fn raw_execute(&mut self) -> SqlResult<u64> {
        Ok(self.done(&self.bound)?.rows)
    }

    pub(crate) fn raw_query(&mut self) -> Rows {
        match self.rows(&self.bound) {
            Ok(rows) => Rows {
                rows: rows.into_iter(),
                present: None,
                failed: None,
            },
            Err(error) => Rows {
                rows: Vec::new().into_iter(),
                present: None,
                failed: Some(error),
            },
        }
    }
}

/// Rows that were asked for by bound parameters.
pub(crate) struct Rows {
    rows: std::vec::IntoIter<Row<'static>>,
    present: Option<Row<'static>>,
    failed: Option<SqlError>,
}

impl Rows {
    pub(crate) fn next(&mut self) -> SqlResult<Option<&Row<'static>>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.present = self.rows.next();
        Ok(self.present.as_ref())
    }

    pub(crate) fn mapped<T>(
        self,
        mut read: impl FnMut(&Row<'_>) -> SqlResult<T>,
    ) -> impl Iterator<Item = SqlResult<T>> {
        let failed = self.failed.map(Err);
        failed.into_iter().chain(self.rows.map(move |row| read(&row)))
    }
}
