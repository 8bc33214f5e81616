//! Faults of a disk, played on the writing connection itself: full, read-only.

use rusqlite::{Connection, OptionalExtension as _};
use seckill_ledger::conformance::{books, shop};
use seckill_ledger::{DeadLetters as _, Error, Parking, Settlement as _};

use super::errors::Stop;
use super::{Engine, Options, Sqlite, Threads};
use crate::threads::Lane;

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(work)
}

/// Reads or sets a pragma of the writing connection, outside of any transaction; 0 where it answers with no row.
async fn pragma(ledger: &Sqlite, said: &'static str) -> i64 {
    let job = move |connection: &mut Connection| {
        let mut statement = connection.prepare(said).map_err(Stop::from)?;
        let answer = statement.query_row([], |row| row.get(0)).optional();
        Ok(answer.map_err(Stop::from)?.unwrap_or(0))
    };
    let answer = match &ledger.engine {
        Engine::Inline(connection) => job(&mut connection.lock()),
        Engine::Threads { writer, .. } => writer.run(Lane::Person, move |connection, _| job(connection)).await,
    };
    answer.unwrap()
}

#[test]
fn a_full_disk_is_an_outage_that_leaves_nothing_and_heals() {
    let folder = tempfile::tempdir().unwrap();
    for threads in [Threads::Inline, Threads::Own { readers: 1 }] {
        let options = Options {
            threads,
            ..Options::default()
        };
        let ledger = Sqlite::open(&folder.path().join(format!("{threads:?}.db")), &options).unwrap();
        block_on(async {
            let activity = shop::sale(&ledger, 900).await;
            let before = ledger.tally(activity.id).await;
            // Not below what there is: no page more.
            pragma(&ledger, "PRAGMA max_page_count = 1").await;
            let batch = shop::batch(activity.id, shop::deliveries(activity.id, 800));
            let refused = ledger.settle(batch.clone()).await;
            assert!(matches!(refused, Err(Error::Outage(_))), "{refused:?}");
            assert_eq!(ledger.tally(activity.id).await, before);
            pragma(&ledger, "PRAGMA max_page_count = 1000000").await;
            assert_eq!(ledger.settle(batch).await.unwrap().orders_written, 800);
            books::check(&ledger).await;
        });
    }
}

#[test]
fn a_database_that_became_read_only_parks_nothing_and_heals() {
    let ledger = Sqlite::open_in_memory(&Options::default()).unwrap();
    block_on(async {
        let activity = shop::sale(&ledger, 10).await;
        pragma(&ledger, "PRAGMA query_only = 1").await;
        let tickets = shop::deliveries(activity.id, 1);
        let refused = ledger.settle(shop::batch(activity.id, tickets.clone())).await;
        assert!(matches!(refused, Err(Error::Outage(_))), "{refused:?}");
        let parking = Parking {
            delivery: tickets[0].clone(),
            reason: "poison".to_owned(),
        };
        let refused = ledger.park(vec![parking], shop::NOW).await;
        assert!(matches!(refused, Err(Error::Outage(_))), "{refused:?}");
        pragma(&ledger, "PRAGMA query_only = 0").await;
        assert_eq!(shop::settle(&ledger, activity.id, tickets).await.orders_written, 1);
    });
}
