//! A file that another process holds when a ledger is opened, or used.

use std::time::Duration;

use rusqlite::Connection;
use seckill_ledger::conformance::shop;
use seckill_ledger::{Error, Operations as _};
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

#[test]
fn what_a_person_has_given_up_is_not_written_when_the_file_is_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let impatient = Options {
        busy_wait_ms_max: 60_000,
        answer_within: Some(Duration::from_millis(1)),
        ..Options::default()
    };
    let ledger = Sqlite::open(&path, &impatient).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.unwrap().block_on(async {
        // The first one waits for the file, the other one behind it.
        for json in ["begun", "behind"] {
            let refused = ledger.set_switches(json.to_owned(), 0, shop::at(shop::NOW)).await;
            assert!(matches!(refused, Err(Error::Outage(_))), "{refused:?}");
        }
    });
    other.execute_batch("ROLLBACK").unwrap();
    // What was begun has ended when this returns.
    drop(ledger);
    let rows: i64 = other
        .query_row("SELECT count(*) FROM switches", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 0);
}
