//! What only a file can do: be locked by somebody else, be missing, be of another version; and what it must keep over a restart.

use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rusqlite::{Connection, TransactionBehavior};
use seckill_ledger::conformance::{books, shop};
use seckill_ledger::{Error, Ledger, Operations as _, Orders as _, Settlement as _};
use seckill_ledger_sql::{Options, Sqlite, Threads};
use seckill_sale::InstallationId;
use tempfile::TempDir;

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(work)
}

/// Waits for no lock, so that no test has to.
fn options() -> Options {
    Options {
        busy_wait_ms_max: 0,
        ..Options::default()
    }
}

fn open(folder: &TempDir) -> Sqlite {
    Sqlite::open(&folder.path().join("ledger.db"), &options()).expect("a good file")
}

fn refusal(path: &Path) -> Error {
    Sqlite::open(path, &options()).map(drop).expect_err("refused")
}

#[test]
fn a_locked_file_is_an_outage_that_leaves_nothing_and_heals() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder);
    block_on(async {
        let activity = shop::sold(&ledger, 10, 2).await;
        let batch = shop::batch(activity.id, shop::deliveries(activity.id, 4));
        let mut other = Connection::open(folder.path().join("ledger.db")).unwrap();
        for behavior in [TransactionBehavior::Immediate, TransactionBehavior::Exclusive] {
            let lock = other.transaction_with_behavior(behavior).unwrap();
            let refused = ledger.settle(batch.clone()).await;
            assert!(matches!(refused, Err(Error::Outage(_))), "{refused:?}");
            // Who only reads does not notice.
            let tally = ledger.tally(activity.id).await.unwrap();
            assert_eq!((tally.available, tally.orders_live), (8, 2));
            lock.rollback().unwrap();
        }
        assert_eq!(ledger.settle(batch).await.unwrap().orders_written, 2);
        books::check(&ledger).await;
    });
}

#[test]
fn a_long_reader_of_the_file_holds_no_writer_up() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder);
    block_on(async {
        let activity = shop::sold(&ledger, 10, 2).await;
        let mut other = Connection::open(folder.path().join("ledger.db")).unwrap();
        let reading = other.transaction().unwrap();
        let count = |reading: &Connection| -> i64 {
            let sql = "SELECT count(*) FROM orders";
            reading.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(count(&reading), 2);
        shop::settle(&ledger, activity.id, shop::deliveries(activity.id, 5)).await;
        assert_eq!(count(&reading), 2);
        assert_eq!(ledger.tally(activity.id).await.unwrap().orders_live, 5);
    });
}

#[test]
fn a_place_that_can_not_be_used_is_an_outage_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("missing/ledger.db")] {
        let said = refusal(&path);
        assert!(matches!(said, Error::Outage(_)), "{said:?}");
        assert!(said.to_string().contains(path.to_str().unwrap()), "{said}");
    }
    let text = folder.path().join("text");
    std::fs::write(&text, "no database, but long enough to be looked at\n".repeat(100)).unwrap();
    assert!(matches!(refusal(&text), Error::Outage(_)));
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(&folder));
    let path = folder.path().join("ledger.db");
    let other = Connection::open(&path).unwrap();
    other
        .execute("INSERT INTO schema_version (version) VALUES (99)", [])
        .unwrap();
    let said = refusal(&path);
    assert!(
        matches!(&said, Error::Rejected(what) if what.contains("version 99")),
        "{said:?}"
    );
}

#[test]
fn what_was_written_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let id = InstallationId([9; 16]);
    let activity = block_on(async {
        let ledger = open(&folder);
        ledger.set_installation(id, 0).await.unwrap();
        shop::sold(&ledger, 10, 3).await
    });
    block_on(async {
        let ledger = open(&folder);
        let installation = ledger.installation().await.unwrap();
        assert_eq!((installation.id, installation.settled_batch), (Some(id), 1));
        let again = shop::settle(&ledger, activity.id, shop::deliveries(activity.id, 3)).await;
        assert_eq!((again.batch, again.orders_written), (2, 0));
        books::check(&ledger).await;
    });
}

#[test]
fn a_batch_whose_caller_went_away_is_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder);
    block_on(async {
        let activity = shop::sale(&ledger, 10).await;
        let batch = shop::batch(activity.id, shop::deliveries(activity.id, 5));
        {
            let mut work = pin!(ledger.settle(batch));
            // One poll hands the job over; the answer may or may not be there already.
            let _: Poll<_> = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        // Another batch waits behind it.
        shop::settle(&ledger, activity.id, Vec::new()).await;
        assert_eq!(ledger.tally(activity.id).await.unwrap().orders_live, 5);
    });
}

#[test]
fn more_callers_than_places_are_all_answered() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder);
    block_on(async {
        let activity = shop::sold(&ledger, 10, 1).await;
        let order_no = shop::ticket(activity.id, 1).order_no();
        let waiting = (0..2_000).map(|_| ledger.order(order_no, None));
        let answers = futures_util::future::join_all(waiting).await;
        assert!(answers.iter().all(Result::is_ok));
    });
}

#[test]
fn an_order_that_was_deleted_by_hand_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder);
    block_on(async {
        let activity = shop::sold(&ledger, 10, 3).await;
        let other = Connection::open(folder.path().join("ledger.db")).unwrap();
        other.execute("DELETE FROM orders WHERE user_id = 'u2'", []).unwrap();
        let tally = ledger.tally(activity.id).await.unwrap();
        assert_eq!((tally.succeeded, tally.orders_live), (3, 2));
        let records = books::all_records(&ledger, activity.id).await;
        let has_order: Vec<bool> = records.iter().map(|record| record.has_order).collect();
        assert_eq!(has_order, [true, false, true]);
    });
}

#[test]
fn a_copy_is_whole_and_never_overwrites() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder);
    let copied = folder.path().join("copy.db");
    block_on(async {
        let activity = shop::sold(&ledger, 10, 3).await;
        ledger.copy_to(&copied).await.unwrap();
        shop::settle(&ledger, activity.id, shop::deliveries(activity.id, 5)).await;
        assert!(matches!(ledger.copy_to(&copied).await, Err(Error::Rejected(_))));
        let copy = Sqlite::open(&copied, &options()).unwrap();
        assert_eq!(copy.damages().await, Ok(Vec::new()));
        assert_eq!(copy.tally(activity.id).await.unwrap().orders_live, 3);
        books::check(&copy).await;
    });
}

#[test]
fn inline_calls_need_no_executor() {
    let inline = Options {
        threads: Threads::Inline,
        ..Options::default()
    };
    let ledger = Sqlite::open_in_memory(&inline).unwrap();
    let ledger: &dyn Ledger = &ledger;
    let mut work = pin!(shop::sold(ledger, 10, 3));
    let done = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(done.is_ready());
}
