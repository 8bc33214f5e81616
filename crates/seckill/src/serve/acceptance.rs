//! Whether this build can serve with some settings. `serve` asks before it begins anything, `config check` asks the same.

use seckill_settings::{DatabaseUrl, Settings, StoreUrl};

use super::{access, public};
use crate::exit::Failure;
use crate::logging;

/// Everything that can't be served with, a failure each; empty where all can.
pub(crate) fn refusals(settings: &Settings) -> Vec<Failure> {
    let checked = [
        store(settings),
        database(settings),
        access::check(settings),
        public::check(settings),
        logging::filter(&settings.log).map(drop),
    ];
    checked.into_iter().filter_map(Result::err).collect()
}

/// The first of them.
///
/// # Errors
/// [`Failure::usage`].
pub(crate) fn check(settings: &Settings) -> Result<(), Failure> {
    refusals(settings).into_iter().next().map_or(Ok(()), Err)
}

/// The store, where it is built in.
pub(crate) fn store(settings: &Settings) -> Result<(), Failure> {
    match &settings.store.url {
        StoreUrl::Embedded => Ok(()),
        StoreUrl::Remote(url) => Err(not_built_in("store.url", url, "embedded")),
    }
}

/// The database's address, where it is one.
fn database(settings: &Settings) -> Result<(), Failure> {
    match &settings.database.url {
        DatabaseUrl::Sqlite(_) => Ok(()),
        DatabaseUrl::Remote(url) => seckill_ledger_sql::Server::check_address(url.reveal())
            .map_err(|_| Failure::usage(format!("database.url: {url} is no address of a database server"))),
    }
}

fn not_built_in(key: &str, url: &seckill_settings::ServiceUrl, instead: &str) -> Failure {
    Failure::usage(format!(
        "{key}: {url} is not built into this version; use \"{instead}\""
    ))
}
