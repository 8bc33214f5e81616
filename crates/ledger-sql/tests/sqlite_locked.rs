//! A file that another process holds when a ledger is opened.

use rusqlite::Connection;
use seckill_ledger::Error;
use seckill_ledger_sql::{Options, Sqlite};

/// Waits for no lock inside of SQLite, so that no test has to.
fn options() -> Options {
    Options {
        busy_wait_ms_max: 0,
        ..Options::default()
    }
}

#[test]
fn a_file_that_is_locked_at_the_start_is_waited_for_as_long_as_the_caller_likes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    drop(Sqlite::open(&path, &options()).unwrap());
    let other = Connection::open(&path).unwrap();
    for lock in ["BEGIN IMMEDIATE", "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"] {
        other.execute_batch(lock).unwrap();
        let mut asked = 0;
        let refused = Sqlite::open_waiting(&path, &options(), || {
            asked += 1;
            asked < 3
        });
        assert!(matches!(refused.map(drop), Err(Error::Outage(_))));
        assert_eq!(asked, 3, "{lock}");
        let opened = Sqlite::open_waiting(&path, &options(), || {
            let unlock = "ROLLBACK; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM orders";
            other.execute_batch(unlock).is_ok()
        });
        assert!(opened.is_ok(), "{lock}: {:?}", opened.map(drop));
    }
}

#[test]
fn nothing_but_a_lock_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let refused = Sqlite::open_waiting(folder.path(), &options(), || unreachable!("a folder is no locked file"));
    assert!(matches!(refused.map(drop), Err(Error::Outage(_))));
}
