//! What the checklist says of store and database.

use std::sync::Arc;
use std::time::Instant;

use seckill_sale::{ActivityId, Finding, Severity, SystemClock};

use super::findings::{line, lines};
use crate::call::Call;
use crate::check::{Check, CheckState};

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
    checks.push(clock(call));
    let is_of_writes = |finding: &Finding| finding.area == "writes";
    let (writes, others): (Vec<_>, Vec<_>) = of_database.into_iter().partition(is_of_writes);
    checks.extend(database_lines(database, &writes));
    checks.extend(lines("database settings", &others));
    checks
}

/// A database that is read and not written is no database that answers: then one line says both.
fn database_lines(read: Check, writes: &[Finding]) -> Vec<Check> {
    const WRITES: &str = "database writes";
    let is_written = writes.iter().all(|finding| finding.severity != Severity::Failed);
    if read.state != CheckState::Passed || is_written {
        let writes = writes.iter().map(|finding| line(WRITES, finding));
        return std::iter::once(read).chain(writes).collect();
    }
    let told = |finding: &Finding| {
        let mut check = line(WRITES, finding);
        if check.state == CheckState::Failed {
            check.said.insert_str(0, "reads are answered, writes are not: ");
        }
        check
    };
    writes.iter().map(told).collect()
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
        Check::warning("clock", format!("{said}: the store's answers take long"))
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
