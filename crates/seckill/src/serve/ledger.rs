//! Opens the ledger of the settings: a file, or a database on a server.

use std::sync::Arc;

use seckill_ledger::{Error, Ledger};
use seckill_ledger_sql::{Options, Server, ServerOptions};
use seckill_settings::{DatabaseUrl, ServiceUrl, Settings};

use super::Patience;
use super::locked_database::WAIT_MAX;
use crate::exit::Failure;

/// Opens the ledger, and waits where it can't be used yet.
///
/// # Errors
/// [`Failure::unreachable`]: it can't be used, or could not for as long as is waited.
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
                ..usual
            };
            let server = open_server(url, options, patience)?;
            for caution in server.cautions() {
                tracing::warn!("{caution}");
            }
            Ok(Arc::new(server))
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
                Err(Error::Outage(_)) if again() => {}
                opened => return opened,
            }
        }
    })
}
