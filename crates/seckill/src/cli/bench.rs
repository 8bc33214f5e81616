//! Flags of `bench`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use seckill_bench::load::CONNECTIONS_MAX;
use seckill_bench::ratios::{PAIRS_MIN, REQUESTS, REQUESTS_MIN};

use super::{AdminArgs, FleetArgs};

fn at_least(min: usize) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(min as u64..)
}

/// What to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Baseline {
    /// A bare answer on the same accept loop.
    Hello,
    /// The articles' algorithm, one script call a buyer, on the same accept loop with the same token check: accepted purchases on the Redis
    /// of --store, in rounds with the bare answer; nothing else is run.
    Naive,
}

/// Flags of `bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Public address of a running server; without it a server is started in a temporary folder.
    #[arg(long, value_name = "URL")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) admin: AdminArgs,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Units on sale, 1 at least.
    #[arg(long, default_value_t = 10_000, value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub(crate) units: u64,
    /// Users who try, once each; 1 at least.
    #[arg(long, default_value_t = 100_000, value_parser = at_least(1))]
    pub(crate) users: usize,
    /// Connections of the crowd, 1 to 20000.
    #[arg(long, default_value_t = 256, value_parser = RangedU64ValueParser::<usize>::new().range(1..=CONNECTIONS_MAX as u64))]
    pub(crate) connections: usize,
    /// Seed of the user ids.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Compare with this in the same run.
    #[arg(long)]
    pub(crate) baseline: Option<Baseline>,
    /// Interleaved pairs of each comparison; fewer than 5 say nothing of the spread.
    #[arg(long, default_value_t = PAIRS_MIN, value_parser = at_least(PAIRS_MIN))]
    pub(crate) pairs: usize,
    /// Connections of the comparisons; without it 64, and 256 for accepted purchases: they share a disk sync with those that come at the
    /// same time, so few connections measure the disk.
    #[arg(long)]
    pub(crate) pair_connections: Option<usize>,
    /// Requests of one run of the comparisons, 100 at least; fewer than the default are for a try.
    #[arg(long, value_name = "COUNT", default_value_t = REQUESTS, value_parser = at_least(REQUESTS_MIN))]
    pub(crate) pair_requests: usize,
    /// Only these comparisons, and no sale; with --store on these services.
    #[arg(long, value_delimiter = ',', value_name = "COMPARISONS")]
    pub(crate) only: Vec<Compared>,
    /// With --only: every limit and rule of the gate on, so wide that it refuses nobody.
    #[arg(long, requires = "only")]
    pub(crate) gates: bool,
    /// Only offer more than the server can carry: 1.5 times of what its processor can do, or 5 times of what a slow store can do.
    #[arg(long, value_name = "BOTTLENECK", num_args = 0..=1, default_missing_value = "processor")]
    pub(crate) overload: Option<Overloaded>,
    /// How long a sync of the slow store's journal takes, in milliseconds; 64 hold two cores' batches near 8,000 claims a second.
    #[arg(long, default_value_t = 64, value_name = "MS")]
    pub(crate) store_sync_ms: u32,
    /// How much later each answer of the Redis of --store arrives while that is the slow store, in milliseconds; 31 hold calls of 256 claims
    /// near 8,000 claims a second.
    #[arg(long, default_value_t = 31, value_name = "MS")]
    pub(crate) store_delay_ms: u32,
    /// How long the overload lasts, in seconds.
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub(crate) overload_s: f64,
    /// With --overload: 5 times of what the server carries, by clients who ask again at once, with the same key, until they know or the overload
    /// ends.
    #[arg(long, requires = "overload")]
    pub(crate) rude: bool,
    /// Only measure what a buyer, an idle stream and a forged request cost in memory.
    #[arg(long)]
    pub(crate) memory: bool,
    /// Buyers and forged requests of --memory.
    #[arg(long, default_value_t = 1_000_000, value_name = "COUNT")]
    pub(crate) memory_buyers: usize,
    /// Idle streams of --memory.
    #[arg(long, default_value_t = 2_000, value_name = "COUNT")]
    pub(crate) memory_streams: usize,
    /// Only run sale after sale on one process, and see what it keeps of them.
    #[arg(long)]
    pub(crate) soak: bool,
    /// Sales of --soak, 4 at least; fewer than 1,000 tell how memory moves, but are not judged by it.
    #[arg(long, default_value_t = 1_000, value_name = "COUNT", value_parser = at_least(4))]
    pub(crate) sales: usize,
    /// Begin the sales of --soak evenly over this time, such as 20m; without it each begins when the one before it has ended.
    #[arg(long, value_name = "DURATION", requires = "soak")]
    pub(crate) over: Option<String>,
    /// Only sell to so many buyers, kill the server behind the last answer, and see how soon it is ready again and whether it knows all.
    #[arg(long, value_name = "BUYERS", num_args = 0..=1, default_missing_value = "1000000")]
    pub(crate) restart: Option<usize>,
    /// Only let so many unpaid orders come due at one moment, and see how soon all have expired; once with their units to the product, once
    /// to the sale.
    #[arg(long, value_name = "ORDERS", num_args = 0..=1, default_missing_value = "100000")]
    pub(crate) expiry: Option<usize>,
    /// Only let a bot farm come to a sale of --units among --users people, once under each set of rules: who gets the units?
    #[arg(long)]
    pub(crate) bots: bool,
    /// Only compare the latency of buyers alone with that among a flood of forged requests: five pairs of runs of up to 200,000 requests, and
    /// a last flood. What --flood-s leaves no time for is not sent, and the report says how much of it was.
    #[arg(long)]
    pub(crate) flood: bool,
    /// How long a run of --flood lasts at most, in seconds, besides the orders behind it; no pair begins that would not end within 12 times
    /// of it.
    #[arg(long, default_value_t = 30.0, value_name = "SECONDS", requires = "flood")]
    pub(crate) flood_s: f64,
    /// Only turn every switch of the operator on and off so often, at nodes on --store and --database (three, or more by --api) while buyers
    /// come, and see how soon all nodes follow.
    #[arg(long, value_name = "TIMES", num_args = 0..=1, default_missing_value = "5", requires = "store",
          value_parser = at_least(1))]
    pub(crate) switches: Option<usize>,
    /// Write the report as a page.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Serve the bare answer that comparisons are made with.
    #[arg(long, hide = true)]
    pub(crate) serve_hello: bool,
    /// Serve the articles' algorithm that comparisons are made with.
    #[arg(long, hide = true)]
    pub(crate) serve_naive: bool,
    /// Address of what comparisons are made with.
    #[arg(long, hide = true)]
    pub(crate) listen: Option<String>,
}

/// What limits an overloaded server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Overloaded {
    /// The processor.
    Processor,
    /// A store whose disk is slow.
    Store,
}

/// What `bench --only` compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Compared {
    /// Purchases after the sell-out.
    Refusals,
    /// Purchases after the sell-out by users who were never seen before.
    FirstRefusals,
    /// Purchases that are accepted.
    Acceptances,
    /// The activity's page.
    ActivityPage,
    /// Polls of results.
    ResultPoll,
}
