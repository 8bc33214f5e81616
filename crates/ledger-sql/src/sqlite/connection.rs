//! Opens connections, each with the same pragmas.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use seckill_ledger::Error;

use super::Options;
use super::errors::Stop;

/// 3.51.3: older ones can lose committed pages when a WAL is reset while two connections are open.
const VERSION_MIN: i32 = 3_051_003;

/// All statements of the ledger and the batch inserts in each of their sizes.
const STATEMENTS_CACHED_MAX: usize = 128;

/// A WAL that grew beyond this, behind a long reader, is cut to it afterwards.
const WAL_BYTES_KEPT_MAX: i64 = 64 << 20;

/// Pages in the WAL at which a commit copies them into the file. Rows of scattered users touch the same pages again and again:
/// copying them seldom is what makes batches cheap.
const WAL_PAGES_MAX: i64 = 4_000;

/// Where the database lies.
#[derive(Debug, Clone)]
pub(super) enum Place {
    File(PathBuf),
    Memory,
}

/// What a connection may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    Read,
}

pub(super) fn open(place: &Place, access: Access, options: &Options) -> Result<Connection, Stop> {
    check_version(rusqlite::version_number(), rusqlite::version())?;
    let connection = match place {
        Place::File(path) => open_file(path)?,
        Place::Memory => Connection::open_in_memory()?,
    };
    connection.busy_timeout(Duration::from_millis(options.busy_wait_ms_max.into()))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED_MAX);
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", WAL_PAGES_MAX)?;
    connection.pragma_update(None, "journal_size_limit", WAL_BYTES_KEPT_MAX)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    let cache_kib = match access {
        Access::Write => options.cache_kib,
        Access::Read => options.cache_kib / 4,
    };
    connection.pragma_update(None, "cache_size", -i64::from(cache_kib))?;
    connection.pragma_update(None, "query_only", access == Access::Read)?;
    Ok(connection)
}

fn open_file(path: &Path) -> rusqlite::Result<Connection> {
    // A path is a path, never a URI with options; one thread uses a connection at a time.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
}

fn check_version(number: i32, text: &str) -> Result<(), Error> {
    if number < VERSION_MIN {
        return Err(Error::Outage(format!(
            "SQLite {text} can lose committed rows; 3.51.3 or newer is needed"
        )));
    }
    Ok(())
}

/// Runs `work` in one transaction: committed when it succeeds, rolled back on any error and on a panic.
pub(super) fn in_transaction<T>(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Stop>,
) -> Result<T, Error> {
    Ok(run_transaction(connection, behavior, work)?)
}

/// The same for whoever must know what SQLite said.
pub(super) fn run_transaction<T>(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Stop>,
) -> Result<T, Stop> {
    let transaction = connection.transaction_with_behavior(behavior)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sqlite_that_can_lose_commits_is_refused() {
        assert!(check_version(3_051_002, "3.51.2").is_err());
        assert!(check_version(3_051_003, "3.51.3").is_ok());
        assert!(check_version(rusqlite::version_number(), rusqlite::version()).is_ok());
    }

    #[test]
    fn commits_are_synced_and_rules_are_on() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::File(folder.path().join("ledger.db"));
        let connection = open(&place, Access::Write, &Options::default()).unwrap();
        let pragma = |name: &str| {
            connection
                .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
                .unwrap()
        };
        assert_eq!([pragma("synchronous"), pragma("foreign_keys")], [2, 1]);
        let mode: String = connection
            .pragma_query_value(None, "journal_mode", |row| row.get(0))
            .unwrap();
        assert_eq!(mode, "wal");
    }
}
