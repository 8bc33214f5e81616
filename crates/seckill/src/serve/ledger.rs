//! Opens the ledger of the settings: a file, or a database on a server.

use std::sync::Arc;

use seckill_ledger::Ledger;
use seckill_ledger_sql::{Options, Server, ServerOptions};
use seckill_sale::{Severity, SystemClock};
use seckill_settings::{DatabaseUrl, ServiceUrl, Settings, StoreUrl};

use super::Patience;
use super::layers::block_on;
use super::locked_database::{WAIT_MAX, refusal};
use crate::exit::Failure;

/// Opens the ledger, and waits where it can't be used yet.
///
/// # Errors
/// [`Failure::unreachable`]: it can't be used, or could not for as long as is waited. A server that does not let us in is not waited for.
pub(super) fn open(settings: &Settings, patience: &mut Patience<'_>) -> Result<Arc<dyn Ledger>, Failure> {
    let answer_within = Some(settings.store.answer_within);
    match &settings.database.url {
        DatabaseUrl::Sqlite(path) => {
            let options = Options {
                answer_within,
                ..Options::default()
            };
            Ok(Arc::new(patience.open_sqlite(path, &options)?))
        }
        DatabaseUrl::Remote(url) => {
            let usual = ServerOptions::default();
            let workers = u8::try_from(settings.queue.workers).unwrap_or(u8::MAX);
            let options = ServerOptions {
                // Each worker has a connection for its batch, and people have theirs.
                writers: usual.writers.max(workers.saturating_add(2)),
                migrate: settings.database.migrate_at_start,
                answer_within,
                // By the count a journal knows an older copy of its database. A shared store is compared row by row instead.
                counts_batches: matches!(settings.store.url, StoreUrl::Embedded),
                ..usual
            };
            Ok(Arc::new(open_server(url, options, patience)?))
        }
    }
}

/// Says what there is to know of a server before the first order is written. What would lose or double orders was refused at its opening.
pub(super) fn tell_findings(settings: &Settings, ledger: &dyn Ledger) {
    if let DatabaseUrl::Sqlite(_) = settings.database.url {
        return;
    }
    for finding in block_on(ledger.examine(Arc::new(SystemClock), None)) {
        match finding.severity {
            Severity::Passed => {}
            Severity::Warning => tracing::warn!(area = finding.area, "the database: {}", finding.sentence),
            Severity::Failed => tracing::error!(area = finding.area, "the database: {}", finding.sentence),
        }
    }
}

fn open_server(url: &ServiceUrl, options: ServerOptions, patience: &mut Patience<'_>) -> Result<Server, Failure> {
    let limit = WAIT_MAX.as_secs();
    let waiting = format!("{url} can't be used yet; waiting for it, {limit} s at most");
    let given_up = format!("{url} could not be used for {limit} s");
    patience.open(&waiting, &given_up, |again| {
        loop {
            match Server::open(url.reveal(), options) {
                Err(error) if error.is_outage() && again() => {}
                opened => return opened.map_err(refusal),
            }
        }
    })
}
