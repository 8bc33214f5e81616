//! Flags of `bench` that start many processes on services which run already.

use clap::Args;

/// Services, and how many processes on them.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// Start processes on this store (`store.url`), which runs already; sales and keys that the run makes stay there.
    #[arg(long, value_name = "URL", requires = "database", conflicts_with = "target")]
    pub(crate) store: Option<String>,
    /// Database of these processes (`database.url`); its tables are made where they are missing.
    #[arg(long, value_name = "URL", requires = "store")]
    pub(crate) database: Option<String>,
    /// Processes that answer buyers.
    #[arg(long, value_name = "COUNT", default_value_t = 1, requires = "store")]
    pub(crate) api: usize,
    /// Processes that write orders.
    #[arg(long, value_name = "COUNT", default_value_t = 1, requires = "store")]
    pub(crate) workers: usize,
}
