//! The ledger on a database server: PostgreSQL, or MariaDB and what MySQL shares with it.
//!
//! A few connections write and a few read, each on a thread of its own that waits for the server; callers hand them jobs through the same
//! bounded queues as SQLite's. So there is no pool that callers could storm, and no caller who goes away leaves half a transaction behind.
//!
//! A connection is made when a job wants it and given back when it is idle; where the server has too few for all processes they take turns
//! (`places.rs`).

mod access;
mod binding;
mod causes;
mod caution;
mod connection;
mod db;
mod dialect;
mod errors;
mod examined;
#[cfg(test)]
mod fault_tests;
mod findings;
mod migrate;
mod opening;
mod places;
#[path = "../queries/mod.rs"]
#[expect(clippy::duplicate_mod, reason = "the same queries, compiled for each driver")]
mod queries;
mod rows;
mod schema;
mod session;
mod statement;
mod translate;
mod values;
mod version;
mod wire;
mod writes;

use std::sync::Arc;
use std::time::Duration;

use Server as Database;
use seckill_ledger::Error;
use seckill_ledger::written::noted;
use tokio::sync::Semaphore;

use crate::caller::Caller;
use crate::outages::Watch;
use crate::threads::{Crew, Lane};
use access::Access;
use connection::Connection;
use errors::Stop;
use places::Places;
use statement::Transaction;
use wire::Target;

/// Examinations of one server at the same time.
const EXAMINATIONS_MAX: usize = 4;

/// How a server is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerOptions {
    /// Connections that write, at least 1: so many batches are written side by side, of one activity or of several.
    pub writers: u8,
    /// Connections that read, at least 1.
    pub readers: u8,
    /// Whether opening makes the tables of this version; else a database that lacks them is refused.
    pub migrate: bool,
    /// How long a writer waits for a row that another one holds, in seconds, at least 1; then it is an outage.
    pub lock_wait_s_max: u8,
    /// After how long the server ends a connection that says nothing, in seconds, at least 1: whoever stands still in a transaction keeps its
    /// rows from others so long at most. On PostgreSQL only one in a transaction; on MariaDB and MySQL any, which is made anew.
    pub idle_s_max: u8,
    /// Whether batches are counted over all sales, by which a journal knows an older copy of its database. The count is one row that all
    /// batches wait for, on PostgreSQL until each other's commit is synced. Where no journal asks, [`seckill_ledger::Settled::batch`] is 0.
    pub counts_batches: bool,
    /// As [`crate::Options::answer_within`].
    pub answer_within: Option<Duration>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            writers: 4,
            readers: 4,
            migrate: true,
            lock_wait_s_max: 5,
            idle_s_max: 10,
            counts_batches: true,
            answer_within: None,
        }
    }
}

/// A ledger on a database server. Dropping it lets what was asked run to its end and closes the connections.
pub struct Server {
    writers: Crew<Connection>,
    readers: Crew<Connection>,
    target: Target,
    options: ServerOptions,
    places: Arc<Places>,
    /// Places of examinations under way: one may wait for a server that does not answer.
    examinations: Arc<Semaphore>,
}

impl Server {
    /// Whether `url` is an address that [`Server::open`] understands. Nothing is asked for it.
    ///
    /// # Errors
    /// [`Error::Rejected`].
    pub fn check_address(url: &str) -> Result<(), Error> {
        Target::parse(url).map(drop)
    }

    /// Connects to the database at `url` (`postgres://…`, `mariadb://…` or `mysql://…`) and brings its tables to this version,
    /// or checks that they are. It blocks until that is done. Further connections are made when they are needed. A database that would lose
    /// or double orders is refused; what else there is to say of it says [`seckill_ledger::Examined`].
    ///
    /// # Errors
    /// [`Error::Outage`] where the server can't be used; [`Error::Rejected`] where `url` is no address, the server does not let us in or has
    /// no such database, or the database is a newer
    /// version's or another program's, or is to be migrated first; or where its tables lost a key, ids are not compared byte by byte,
    /// transactions are isolated otherwise, or the user may not write.
    pub fn open(url: &str, options: ServerOptions) -> Result<Self, Error> {
        let target = Target::parse(url)?;
        let migrating = target.clone();
        // On a thread of its own, because the caller may be one that must not wait for another runtime.
        std::thread::spawn(move || migrate::migrate(&migrating, options))
            .join()
            .unwrap_or_else(|_| Err(Stop::Ledger(Error::Outage("migrating was broken off".to_owned()))))
            .map_err(|stop| stop.at_opening(&target))?;
        let places = Arc::<Places>::default();
        let connections = |access, count: u8| {
            let made = (0..count.max(1)).map(|_| Connection::new(&target, access, options));
            made.map(|made| Ok(made?.counted_in(&places)))
                .collect::<Result<Vec<_>, Error>>()
        };
        let within = options.answer_within;
        let [writing, reading] = Watch::both();
        let writers = connections(Access::Write, options.writers)?;
        let readers = connections(Access::Read, options.readers)?;
        Ok(Self {
            writers: Crew::start("ledger-writer", writers, writing)?.answering_people_within(within),
            readers: Crew::start("ledger-reader", readers, reading)?.answering_people_within(within),
            target,
            options,
            places,
            examinations: Arc::new(Semaphore::new(EXAMINATIONS_MAX)),
        })
    }

    /// One transaction that may write. It is done again from its beginning where it stood in the way of another one.
    async fn write<T, F>(&self, lane: Lane, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Fn(&Transaction<'_>) -> Result<T, Stop> + Send + 'static,
    {
        let job = move |connection: &mut Connection, caller: &Caller| {
            connection.in_transaction(|transaction| Ok(caller.check_before_commit(work(transaction)?)?))
        };
        noted(self.writers.run(lane, job).await)
    }

    /// One transaction that reads: all of its queries see the same commit.
    async fn read<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Fn(&Transaction<'_>) -> Result<T, Stop> + Send + 'static,
    {
        let job = move |connection: &mut Connection, _: &Caller| connection.in_transaction(work);
        self.readers.run(Lane::Person, job).await
    }
}
