//! The ledger on SQLite: one connection that writes, a few that read, each on a thread of its own.
//!
//! SQLite lets one writer in at a time; giving it one thread turns waiting for a lock into waiting in a bounded queue in which people
//! pass batches. Readers see the last commit and never wait for the writer.

mod connection;
mod db;
mod dialect;
mod errors;
#[cfg(test)]
mod fault_tests;
mod findings;
mod migrate;
mod opening;
#[path = "../queries/mod.rs"]
mod queries;
mod upkeep;

use std::path::Path;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use seckill_ledger::Error;
use seckill_ledger::written::noted;

use Sqlite as Database;
use connection::in_transaction;
use errors::Stop;

use crate::caller::Caller;
use crate::threads::{Crew, Lane};

/// Where the work on the database is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// One thread that writes and this many that read, 1 to [`Threads::READERS_MAX`]. A database in memory has none that read.
    Own {
        /// Threads that read.
        readers: u8,
    },
    /// On the caller's thread, one call after another: the same calls give the same database, byte by byte.
    Inline,
}

impl Threads {
    /// Most threads that read.
    pub const READERS_MAX: u8 = 8;
}

/// How the database is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Where the work is done.
    pub threads: Threads,
    /// How long a statement waits for another process that holds the file's lock, in milliseconds; then it is an outage.
    pub busy_wait_ms_max: u32,
    /// Page cache of the connection that writes, in KiB. One that reads has a quarter: it looks at the few pages of one sale, and
    /// whatever it has seen once stays until its cache is full.
    pub cache_kib: u32,
    /// How long a person waits for a database that does not answer; then it is an outage. Batches wait as long as it takes. None: so do
    /// people; else whoever asks needs a runtime with timers.
    pub answer_within: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: Threads::Own { readers: 2 },
            busy_wait_ms_max: 2_000,
            cache_kib: 6 << 10,
            answer_within: None,
        }
    }
}

/// A ledger on SQLite. Dropping it lets what was asked run to its end and closes the file.
pub struct Sqlite {
    engine: Engine,
}

enum Engine {
    Inline(Mutex<Connection>),
    Threads {
        // Closed in this order: the last connection to be closed empties the log into the file, and two at once would leave it to each other.
        readers: Option<Crew<Connection>>,
        writer: Crew<Connection>,
    },
}

impl Sqlite {
    /// Copies the whole database, as of one commit, into a new file. Writers go on meanwhile.
    ///
    /// # Errors
    /// [`Error::Rejected`] where the file exists; [`Error::Outage`].
    pub async fn copy_to(&self, path: &Path) -> Result<(), Error> {
        let path = path.to_owned();
        self.on_reader(move |source| upkeep::copy(source, &path)).await
    }

    /// Reads every page and row and says what is damaged; empty where nothing is.
    ///
    /// # Errors
    /// [`Error::Outage`].
    pub async fn damages(&self) -> Result<Vec<String>, Error> {
        self.read(upkeep::damages).await
    }

    /// Lends the connection to whoever must look at the rows themselves: the simulator's auditor and drills. None where the connection
    /// is on a thread of its own.
    pub fn inspect<T>(&self, look: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        match &self.engine {
            Engine::Inline(connection) => Some(look(&mut connection.lock())),
            Engine::Threads { .. } => None,
        }
    }

    /// One transaction that may write.
    async fn write<T, F>(&self, lane: Lane, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Fn(&Transaction<'_>) -> Result<T, Stop> + Send + 'static,
    {
        // Immediate: a transaction that begins by reading could not be promoted after another one's commit.
        let job = move |connection: &mut Connection, caller: &Caller| {
            in_transaction(connection, TransactionBehavior::Immediate, |transaction| {
                Ok(caller.check_before_commit(work(transaction)?)?)
            })
        };
        noted(match &self.engine {
            Engine::Inline(connection) => job(&mut connection.lock(), &Caller::default()),
            Engine::Threads { writer, .. } => writer.run(lane, job).await,
        })
    }

    /// One transaction that reads: all of its queries see the same commit.
    async fn read<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<T, Stop> + Send + 'static,
    {
        let job = move |connection: &mut Connection| in_transaction(connection, TransactionBehavior::Deferred, work);
        self.on_reader(job).await
    }

    async fn on_reader<T, F>(&self, job: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
    {
        match &self.engine {
            Engine::Inline(connection) => job(&mut connection.lock()),
            Engine::Threads { writer, readers } => {
                let crew = readers.as_ref().unwrap_or(writer);
                crew.run(Lane::Person, |connection, _| job(connection)).await
            }
        }
    }
}
