//! How long a start waits, and what it says.

use std::cell::RefCell;

use rusqlite::Connection;

use super::*;

/// A database that is locked until the connection goes, and options that wait for nothing by themselves.
fn locked(folder: &Path) -> (std::path::PathBuf, Connection, Options) {
    let path = folder.join("seckill.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let options = Options {
        busy_wait_ms_max: 0,
        ..Options::default()
    };
    (path, connection, options)
}

#[test]
fn a_locked_database_is_opened_when_it_comes_free_and_a_person_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other, options) = locked(folder.path());
    let (told, mut pauses) = (RefCell::new(Vec::new()), 0);
    let pause = |_| {
        pauses += 1;
        if pauses == 3 {
            other.execute_batch("ROLLBACK").unwrap();
        }
        true
    };
    let mut patience = Patience {
        told_after: Duration::ZERO,
        ..Patience::new(pause, |line| told.borrow_mut().push(line.to_owned()))
    };
    patience.open_sqlite(&path, &options).unwrap();
    drop(patience);
    assert_eq!(pauses, 3);
    assert_eq!(told.borrow().len(), 1);
    assert!(told.borrow()[0].contains("seckill.db is locked by another process") && told.borrow()[0].contains("30 s"));
}

#[test]
fn who_waited_long_enough_hears_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _other, options) = locked(folder.path());
    let mut patience = Patience {
        wait_max: Duration::ZERO,
        ..Patience::new(|_| unreachable!("no time is left"), |_| unreachable!("nobody is told"))
    };
    let said = patience.open_sqlite(&path, &options).map(drop).unwrap_err().to_string();
    assert!(
        said.contains("seckill.db: database is locked; another process has held it for 30 s"),
        "{said}"
    );
}

#[test]
fn a_signal_ends_the_wait() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _other, options) = locked(folder.path());
    let said = Patience::new(|_| false, |_| ()).open_sqlite(&path, &options).map(drop);
    assert!(said.unwrap_err().to_string().contains("a signal ended the wait"));
}
