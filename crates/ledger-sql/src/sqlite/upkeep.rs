//! Copies a database while it is in use, and looks for damage in it.

use std::path::Path;
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, Transaction};
use seckill_ledger::Error;

use super::errors::Stop;

/// Copies all of `source`, as of one commit, to a new file.
pub(super) fn copy(source: &Connection, path: &Path) -> Result<(), Error> {
    if path.exists() {
        return Err(Error::Rejected(format!("{} exists already", path.display())));
    }
    let run = || -> Result<bool, Stop> {
        let mut target = Connection::open(path)?;
        target.busy_timeout(Duration::ZERO)?;
        // All pages in one step are one reading; in several, each commit in between would start it anew.
        let whole = Backup::new(source, &mut target)?.step(-1)? == StepResult::Done;
        Ok(whole)
    };
    match run() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::Outage("the database was locked while it was copied".to_owned())),
        Err(stop) => Err(stop.into()),
    }
}

/// What SQLite finds wrong, a line each.
pub(super) fn damages(transaction: &Transaction<'_>) -> Result<Vec<String>, Stop> {
    let mut statement = transaction.prepare("PRAGMA integrity_check(20)")?;
    let lines = statement.query_map([], |row| row.get(0))?;
    let lines: Vec<String> = lines.collect::<rusqlite::Result<_>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}
