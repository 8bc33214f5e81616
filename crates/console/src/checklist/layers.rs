//! What the checklist says of store and database.

use std::sync::Arc;
use std::time::Instant;

use seckill_sale::{ActivityId, Finding, SystemClock};

use super::findings::{line, lines};
use crate::call::Call;
use crate::check::Check;

/// An error of the clock that buyers would notice at the start.
const CLOCK_UNCERTAINTY_MS_MAX: i64 = 100;

/// Whether they answer, and whether they are set and may do what a sale needs. They are asked at the same time, so that one which hangs keeps
/// nobody longer than both.
pub(crate) async fn layers(call: &Call, sale: Option<ActivityId>) -> Vec<Check> {
    let (store, of_store, database, of_database) = tokio::join!(
        store(call),
        call.console.stock().examine(),
        database(call),
        call.console.ledger().examine(Arc::new(SystemClock), sale),
    );
    let mut checks = vec![store];
    checks.extend(lines("store settings", &of_store));
    checks.extend([clock(call), database]);
    let is_of_writes = |finding: &Finding| finding.area == "writes";
    let (writes, others): (Vec<_>, Vec<_>) = of_database.into_iter().partition(is_of_writes);
    checks.extend(writes.iter().map(|finding| line("database writes", finding)));
    checks.extend(lines("database settings", &others));
    checks
}

async fn store(call: &Call) -> Check {
    let asked = Instant::now();
    match call.console.stock().activities().await {
        Ok(_) => Check::passed(
            "store",
            format!("answers within {} ms", asked.elapsed().as_millis() + 1),
        ),
        Err(error) => Check::failed("store", error.to_string()),
    }
}

fn clock(call: &Call) -> Check {
    let uncertainty_ms = call.console.stock().clock_uncertainty_ms();
    let said = format!("known to {uncertainty_ms} ms");
    if uncertainty_ms <= CLOCK_UNCERTAINTY_MS_MAX {
        Check::passed("clock", said)
    } else {
        Check::warning("clock", format!("{said}: is NTP running?"))
    }
}

async fn database(call: &Call) -> Check {
    let asked = Instant::now();
    match call.console.ledger().switches().await {
        Ok(_) => {
            let within_ms = asked.elapsed().as_millis() + 1;
            Check::passed("database", format!("answers within {within_ms} ms"))
        }
        Err(error) => Check::failed("database", error.to_string()),
    }
}
