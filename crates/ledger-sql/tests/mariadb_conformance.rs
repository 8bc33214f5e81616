//! MariaDB does what every ledger must do.

use std::sync::Arc;

use seckill_ledger::Ledger;
use seckill_ledger_sql::{Server, ServerOptions};
use seckill_testkit::MariaDb;

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(work)
}

fn fresh() -> (Arc<dyn Ledger>, MariaDb) {
    let database = MariaDb::fresh();
    let ledger = Server::open(&database.url(), ServerOptions::default()).expect("an empty database");
    (Arc::new(ledger), database)
}

seckill_ledger::conformance_tests!(crate::fresh, crate::block_on);
