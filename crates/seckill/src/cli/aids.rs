//! Flags of what helps before and beside a sale: `demo`, `token`, `plan`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{ArgGroup, Args};

/// Flags of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Simulated buyers who come through the public port.
    #[arg(long, value_name = "BUYERS", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) crowd: Option<usize>,
    /// End when the crowd is through and the audit is printed.
    #[arg(long, requires = "crowd")]
    pub(crate) exit: bool,
    /// Address of the public port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,
    /// Address of the admin port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8081")]
    pub(crate) admin_listen: String,
}

/// Flags of `token`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("whose").required(true).args(["user", "users"]))]
pub(crate) struct TokenArgs {
    /// The user.
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// How many random users, one token a line.
    #[arg(long, requires = "out", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) users: Option<usize>,
    /// File for the tokens of `--users`, made readable by you alone.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How long a token holds.
    #[arg(long, default_value = "1h", value_name = "DURATION")]
    pub(crate) ttl: String,
}

/// Flags of `plan`. The defaults of the rates were measured by `seckill bench` on two cores; see docs.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// People who take part.
    #[arg(long)]
    pub(crate) users: u64,
    /// How often each presses the button.
    #[arg(long, default_value_t = 5.0)]
    pub(crate) clicks: f64,
    /// How long the sale is busy.
    #[arg(long, default_value_t = 60.0)]
    pub(crate) seconds: f64,
    /// How long the rush at its beginning lasts.
    #[arg(long, default_value_t = 10.0)]
    pub(crate) head_seconds: f64,
    /// Units on sale.
    #[arg(long)]
    pub(crate) units: Option<u64>,
    /// Requests a second that one node answers.
    #[arg(long, default_value_t = 30_000.0)]
    pub(crate) node_rate: f64,
    /// Claims a second that one store decides.
    #[arg(long, default_value_t = 100_000.0)]
    pub(crate) store_rate: f64,
    /// Orders a second that the database writes.
    #[arg(long, default_value_t = 20_000.0)]
    pub(crate) order_rate: f64,
}
