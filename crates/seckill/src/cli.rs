//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

mod activity;
mod bench;
mod recover;

pub(crate) use activity::{ActivityCommand, CreateArgs};
pub(crate) use bench::{Baseline, BenchArgs, Compared, Overloaded};
pub(crate) use recover::{JournalCommand, RecoverArgs};

/// A flash-sale (秒杀) engine: admits exactly as many buyers as there are units, and proves it.
#[derive(Debug, Parser)]
#[command(name = "seckill", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Settings file; without it `./seckill.toml` is read where it is there.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// One JSON document on stdout instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server.
    Serve(ServeArgs),
    /// Run a sample sale in a temporary folder, loopback only, ignoring settings files and environment.
    Demo(DemoArgs),
    /// Run workers only (refused with the embedded store, which lives in the serving process).
    Work,
    /// Bring the database to this version.
    Migrate(DataArgs),
    /// Create, list, show and steer activities of a running server.
    Activity {
        #[command(flatten)]
        admin: AdminArgs,
        #[command(subcommand)]
        command: ActivityCommand,
    },
    /// Short for `activity preheat`.
    Preheat {
        #[command(flatten)]
        admin: AdminArgs,
        /// The activity.
        id: u64,
    },
    /// The conservation equation of one activity; exit 3 where it does not balance.
    Audit {
        #[command(flatten)]
        admin: AdminArgs,
        /// The activity.
        id: u64,
    },
    /// The checklist before a sale; exit 3 where something failed.
    Check {
        #[command(flatten)]
        admin: AdminArgs,
        /// The activity; without it only the node and what it stands on.
        id: Option<u64>,
    },
    /// Store, queue and ledger side by side, with the users behind each difference; exit 3 where differences are left.
    Reconcile {
        #[command(flatten)]
        admin: AdminArgs,
        #[command(flatten)]
        args: ReconcileArgs,
    },
    /// Bring store and ledger together after one of them was lost or restored; says what it will do first.
    Recover(RecoverArgs),
    /// Look into the journal of a stopped server.
    Journal {
        #[command(flatten)]
        data: DataArgs,
        #[command(subcommand)]
        command: JournalCommand,
    },
    /// Open-loop load and audit; with no arguments the canonical sale: 10,000 units, 100,000 users.
    Bench(BenchArgs),
    /// Capacity that a crowd needs.
    Plan(PlanArgs),
    /// Make user tokens signed with the configured secret.
    Token(TokenArgs),
    /// Show or check settings.
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Print a completion script.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// Flags of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Roles of this process: api, worker, scheduler.
    #[arg(long, value_delimiter = ',', value_name = "ROLES")]
    pub(crate) roles: Vec<Role>,
    /// Address of the public port.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Address of the admin port.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin_listen: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

/// Where the data is.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// Data folder.
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) data_dir: Option<String>,
}

/// What a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Role {
    /// Answers buyers.
    Api,
    /// Writes orders.
    Worker,
    /// Preheats, expires, closes.
    Scheduler,
}

/// Flags of `token`.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// The user.
    #[arg(long, conflicts_with = "users", required_unless_present = "users")]
    pub(crate) user: Option<String>,
    /// How many random users, one token a line.
    #[arg(long, requires = "out")]
    pub(crate) users: Option<usize>,
    /// File for the tokens of `--users`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How long a token holds.
    #[arg(long, default_value = "1h", value_name = "DURATION")]
    pub(crate) ttl: String,
}

/// What of the settings.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Effective settings with the source of each; secrets masked.
    Print,
    /// Every error in the settings.
    Check,
    /// JSON Schema of the settings file.
    Schema,
}

/// Which server, for commands that go through its admin API. The token comes from SECKILL_ADMIN__TOKEN or the data folder.
#[derive(Debug, Args)]
pub(crate) struct AdminArgs {
    /// Address of the admin port; without it `admin.listen` of the settings.
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) admin: Option<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

/// Flags of `reconcile`.
#[derive(Debug, Args)]
pub(crate) struct ReconcileArgs {
    /// The activity.
    pub(crate) id: u64,
    /// Mend what can be mended safely: enqueue again, finish a ticket, lower the units left.
    #[arg(long)]
    pub(crate) fix: bool,
}

/// Flags of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Simulated buyers who come through the public port.
    #[arg(long, value_name = "BUYERS")]
    pub(crate) crowd: Option<usize>,
    /// End when the crowd is through and the audit is printed.
    #[arg(long)]
    pub(crate) exit: bool,
    /// Address of the public port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,
    /// Address of the admin port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8081")]
    pub(crate) admin_listen: String,
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
