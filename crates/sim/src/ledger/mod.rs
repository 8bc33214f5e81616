//! The ledger as the product's flows see it: SQLite, behind outages, lost replies and, where planted, faults.
//!
//! Each call lets others go first before and after it, so that a crash may come between any two of them. SQLite itself is trusted: what
//! it has committed stays.

mod catalog;
mod dead_letters;
mod eligible;
mod operations;
mod orders;
mod settlement;

pub(crate) use settlement::drop_unique;

use std::future::Future;
use std::sync::Arc;

use rusqlite::Connection;
use seckill_ledger::Error;
use seckill_ledger_sql::Sqlite;

use crate::weather::{Course, Weather};

/// The ledger of one process.
pub(crate) struct SimLedger {
    inner: Arc<Sqlite>,
    weather: Arc<Weather>,
}

impl SimLedger {
    pub(crate) const fn new(inner: Arc<Sqlite>, weather: Arc<Weather>) -> Self {
        Self { inner, weather }
    }

    async fn call<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.weather.pause().await;
        let course = self.weather.ledger_course();
        if course == Course::Refused {
            return Err(Error::Outage("the simulated database is down".to_owned()));
        }
        let done = work.await?;
        self.weather.pause().await;
        if course == Course::ReplyLost {
            return Err(Error::OutcomeUnknown(
                "the simulated database's answer was lost".to_owned(),
            ));
        }
        Ok(done)
    }

    /// Does something to the rows behind everybody's back, for a planted fault.
    fn by_hand<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> T {
        let done = self.inner.inspect(|connection| work(connection));
        done.expect("the ledger runs on this thread")
            .expect("a statement for this schema")
    }
}
