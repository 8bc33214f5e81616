//! How a start meets a database that another process has locked, or a server that is not up: it waits for a while, says so, and then fails clearly.
//!
//! Only the start waits like this. While serving, a locked database is an outage that purchases outlive.

use std::fmt::Display;
use std::path::Path;
use std::time::{Duration, Instant};

use seckill_ledger::Error;
use seckill_ledger_sql::{Options, Sqlite};

use super::Signals;
use crate::exit::Failure;
use crate::logging::say;

/// How long a locked database is waited for.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(30);
/// After how long a person is told what is waited for.
const TOLD_AFTER: Duration = Duration::from_secs(3);
/// Between two attempts; each of them waits inside of SQLite, too.
const PAUSE: Duration = Duration::from_millis(250);

/// Waits, and tells a person about it.
pub(crate) struct Patience<'a> {
    /// Lets the time pass; false where the process is told to end meanwhile.
    pause: Box<dyn FnMut(Duration) -> bool + 'a>,
    tell: Box<dyn FnMut(&str) + 'a>,
    wait_max: Duration,
    told_after: Duration,
}

impl<'a> Patience<'a> {
    /// Of a server: it writes to the log, and a signal ends the wait.
    pub(crate) fn of_server(signals: &'a mut Signals) -> Self {
        Self::new(|time| signals.pause(time), |line| tracing::warn!("{line}"))
    }

    /// Of a command at a terminal.
    pub(crate) fn of_command() -> Self {
        let pause = |time| {
            std::thread::sleep(time);
            true
        };
        Self::new(pause, say)
    }

    fn new(pause: impl FnMut(Duration) -> bool + 'a, tell: impl FnMut(&str) + 'a) -> Self {
        Self {
            pause: Box::new(pause),
            tell: Box::new(tell),
            wait_max: WAIT_MAX,
            told_after: TOLD_AFTER,
        }
    }

    /// Opens a file, and waits where another process has locked it.
    ///
    /// # Errors
    /// [`Failure::unreachable`]: the file can't be used, or was still locked after [`WAIT_MAX`].
    pub(crate) fn open_sqlite(&mut self, database: &Path, options: &Options) -> Result<Sqlite, Failure> {
        self.open(&waiting(database), &given_up(), |again| {
            Sqlite::open_waiting(database, options, again).map_err(refusal)
        })
    }

    /// Asks what has been opened, and asks again where it can't be used just now: `is_outage` tells.
    ///
    /// # Errors
    /// As [`Patience::open_sqlite`].
    pub(super) fn ask<T, E: Display>(
        &mut self,
        is_outage: impl Fn(&E) -> bool,
        mut ask: impl FnMut() -> Result<T, E>,
    ) -> Result<T, Failure> {
        let limit = WAIT_MAX.as_secs();
        let waiting = format!("the database or the store can't be used now; waiting for it, {limit} s at most");
        let given_up = format!("it could not be used for {limit} s");
        self.open(&waiting, &given_up, |again| {
            loop {
                match ask() {
                    Err(error) if is_outage(&error) && again() => {}
                    asked => return asked,
                }
            }
        })
    }

    /// Opens what `open` opens, which asks after each attempt whether there is to be another one.
    ///
    /// # Errors
    /// As [`Patience::open_sqlite`].
    pub(super) fn open<T, E: Display>(
        &mut self,
        waiting: &str,
        given_up: &str,
        open: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let begun = Instant::now();
        let (mut told, mut end) = (false, None);
        let opened = open(&mut || {
            let waited = begun.elapsed();
            if self.wait_max <= waited {
                end = Some(given_up.to_owned());
                return false;
            }
            if !told && self.told_after <= waited {
                told = true;
                (self.tell)(waiting);
            }
            let goes_on = (self.pause)(PAUSE);
            if !goes_on {
                end = Some("a signal ended the wait for it".to_owned());
            }
            goes_on
        });
        opened.map_err(|error| failure(&error, end))
    }
}

/// Why a database can't be opened: it is no row that was refused, but we.
pub(super) fn refusal(error: Error) -> String {
    match error {
        Error::Rejected(said) => said,
        other => other.to_string(),
    }
}

fn waiting(database: &Path) -> String {
    let (database, limit) = (database.display(), WAIT_MAX.as_secs());
    format!("{database} is locked by another process; waiting for it, {limit} s at most")
}

fn given_up() -> String {
    let limit = WAIT_MAX.as_secs();
    format!(
        "another process has held it for {limit} s; end that process (a backup, a shell of sqlite3), then start again"
    )
}

fn failure(error: &impl Display, end: Option<String>) -> Failure {
    match end {
        Some(end) => Failure::unreachable(format!("{error}; {end}")),
        None => Failure::unreachable(error),
    }
}

#[cfg(test)]
#[path = "locked_database_tests.rs"]
mod tests;
