//! SQLite does what every ledger must do, in each of its modes.

use std::sync::Arc;

use seckill_ledger::Ledger;
use seckill_ledger_sql::{Options, Sqlite, Threads};
use tempfile::TempDir;

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(work)
}

fn in_file(threads: Threads) -> (Arc<dyn Ledger>, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options {
        threads,
        ..Options::default()
    };
    let ledger = Sqlite::open(&folder.path().join("ledger.db"), &options).expect("a fresh file");
    (Arc::new(ledger), folder)
}

fn in_memory(threads: Threads) -> (Arc<dyn Ledger>, ()) {
    let options = Options {
        threads,
        ..Options::default()
    };
    (
        Arc::new(Sqlite::open_in_memory(&options).expect("a fresh database")),
        (),
    )
}

mod threads_on_a_file {
    fn fresh() -> (std::sync::Arc<dyn seckill_ledger::Ledger>, tempfile::TempDir) {
        crate::in_file(seckill_ledger_sql::Threads::Own { readers: 2 })
    }
    seckill_ledger::conformance_tests!(super::fresh, crate::block_on);
}

mod threads_in_memory {
    fn fresh() -> (std::sync::Arc<dyn seckill_ledger::Ledger>, ()) {
        crate::in_memory(seckill_ledger_sql::Threads::Own { readers: 2 })
    }
    seckill_ledger::conformance_tests!(super::fresh, crate::block_on);
}

mod inline_in_memory {
    fn fresh() -> (std::sync::Arc<dyn seckill_ledger::Ledger>, ()) {
        crate::in_memory(seckill_ledger_sql::Threads::Inline)
    }
    seckill_ledger::conformance_tests!(super::fresh, crate::block_on);
}
