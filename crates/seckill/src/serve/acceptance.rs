//! Whether this build can serve with some settings. `serve` asks before it begins anything, `config check` asks the same.

use seckill_settings::{DatabaseUrl, Settings};

use super::{access, alerting, public, store};
use crate::exit::Failure;
use crate::logging;

/// Everything that can't be served with, a failure each; empty where all can.
pub(crate) fn refusals(settings: &Settings) -> Vec<Failure> {
    let checked = [
        store::check(settings),
        database(settings),
        access::check(settings),
        public::check(settings),
        alerting::check(settings),
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

/// The database's address, where it is one.
fn database(settings: &Settings) -> Result<(), Failure> {
    match &settings.database.url {
        DatabaseUrl::Sqlite(_) => Ok(()),
        DatabaseUrl::Remote(url) => seckill_ledger_sql::Server::check_address(url.reveal())
            .map_err(|_| Failure::usage(format!("database.url: {url} is no address of a database server"))),
    }
}
