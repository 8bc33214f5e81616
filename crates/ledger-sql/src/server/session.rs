//! A live connection: what is said on it, and how long that may take.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::errors::SqlError;
use super::places::{Over, Places, Taken};
use super::translate::{Family, Translated, translate};
use super::values::{Parameter, SqlResult, Value};
use super::wire::{Done, Wire};

/// How long a statement may take, on its way too. The server's own limits are shorter and cost no connection.
const STATEMENT_TIME_MAX: Duration = Duration::from_secs(40);

/// A live connection with what it knows of the queries.
pub(super) struct Session {
    runtime: Arc<Runtime>,
    family: Family,
    wire: Wire,
    translated: HashMap<String, Arc<Translated>>,
    place: Taken,
}

impl Session {
    pub(super) fn new(runtime: Arc<Runtime>, family: Family, wire: Wire, places: &Arc<Places>) -> Self {
        Self {
            runtime,
            family,
            wire,
            translated: HashMap::new(),
            place: Taken::one_of(places, Instant::now()),
        }
    }

    pub(super) async fn close(self) {
        self.wire.close().await;
    }

    /// Whether its place is to be given up after a job, where more work waits or not, and why.
    pub(super) fn is_over(&self, waits: bool) -> Option<Over> {
        self.place.is_over(waits, Instant::now())
    }

    pub(super) const fn family(&self) -> Family {
        self.family
    }

    pub(super) fn translated(&mut self, query: &str) -> Arc<Translated> {
        if let Some(known) = self.translated.get(query) {
            return Arc::clone(known);
        }
        let translated = Arc::new(translate(self.family, query));
        self.translated.insert(query.to_owned(), Arc::clone(&translated));
        translated
    }

    pub(super) fn rows(&mut self, said: &Translated, parameters: &[Parameter]) -> SqlResult<Vec<Vec<Value>>> {
        wait(&self.runtime, STATEMENT_TIME_MAX, self.wire.rows(said, parameters))
    }

    pub(super) fn execute(&mut self, said: &Translated, parameters: &[Parameter]) -> SqlResult<Done> {
        wait(&self.runtime, STATEMENT_TIME_MAX, self.wire.execute(said, parameters))
    }

    /// Statements without parameters or answers, one after the other.
    pub(super) fn say(&mut self, sql: &str) -> SqlResult<()> {
        wait(&self.runtime, STATEMENT_TIME_MAX, self.wire.say(sql))
    }
}

pub(super) fn wait<T>(runtime: &Runtime, limit: Duration, work: impl Future<Output = SqlResult<T>>) -> SqlResult<T> {
    let timed = runtime.block_on(async { tokio::time::timeout(limit, work).await });
    timed.unwrap_or_else(|_| {
        let seconds = limit.as_secs();
        Err(SqlError::Broken(format!(
            "the database did not answer within {seconds} s"
        )))
    })
}
