//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

mod activity;
mod aids;
mod bench;
mod fleet;
mod recover;

pub(crate) use activity::{ActivityCommand, CreateArgs};
pub(crate) use aids::{DemoArgs, PlanArgs, TokenArgs};
pub(crate) use bench::{Baseline, BenchArgs, Compared, Overloaded};
pub(crate) use fleet::FleetArgs;
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
    Work(WorkArgs),
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

/// How to run workers only.
#[derive(Debug, Args)]
pub(crate) struct WorkArgs {
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
