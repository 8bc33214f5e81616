//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

mod activity;
mod aids;
mod bench;
mod fleet;
mod product;
mod recover;
mod server;
mod tap;

pub(crate) use activity::{ActivityCommand, ChangeArgs, CreateArgs, EligibilityCommand};
pub(crate) use aids::{DemoArgs, PlanArgs, TokenArgs};
pub(crate) use bench::{Baseline, BenchArgs, Compared, Overloaded};
pub(crate) use fleet::FleetArgs;
pub(crate) use product::ProductCommand;
pub(crate) use recover::{JournalCommand, RecoverArgs};
pub(crate) use server::{AdminArgs, DataArgs, Role, ServeArgs, WorkArgs};
pub(crate) use tap::{
    AuditRowsArgs, BLOCK_KINDS, BlocksCommand, DeadLettersCommand, EndArgs, SetArgs, SwitchesCommand,
};

/// Heading of the flags that are not of one command.
const GENERAL: &str = "General options";

const ENDING: &str = "\
`seckill demo` shows a sale; README.md has a first purchase by hand. Commands with --admin ask a
running server through its admin port, with the token of SECKILL_ADMIN__TOKEN, of the settings, or
of the data folder. Moments are told in UTC.

Exit codes: 0 fine, 1 failed, 2 usage (also a value that the server does not take), 3 a checked
condition is violated, 4 a dependency can't be reached, or can't be used as it is set.";

/// A flash-sale (秒杀) engine: admits exactly as many buyers as there are units, and proves it.
#[derive(Debug, Parser)]
#[command(name = "seckill", version, propagate_version = true, arg_required_else_help = true, after_help = ENDING)]
pub(crate) struct Cli {
    /// Settings file; without it `./seckill.toml` is read where it is there.
    #[arg(long, global = true, value_name = "FILE", help_heading = GENERAL)]
    pub(crate) config: Option<PathBuf>,
    /// One JSON document on stdout instead of text.
    #[arg(long, global = true, help_heading = GENERAL)]
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
    /// Run only workers, which write orders, on a store that processes share; the embedded one lives in the serving process.
    Work(WorkArgs),
    /// Bring the tables of the database to this version; makes them in an empty one.
    Migrate(DataArgs),
    /// Make, show, change and steer sales (activities) of a running server.
    Activity {
        #[command(flatten)]
        admin: AdminArgs,
        #[command(subcommand)]
        command: ActivityCommand,
    },
    /// Show products of a running server, what sales take their units from, or give them more units.
    Product {
        #[command(flatten)]
        admin: AdminArgs,
        #[command(subcommand)]
        command: ProductCommand,
    },
    /// Short for `activity preheat`.
    Preheat {
        #[command(flatten)]
        admin: AdminArgs,
        /// The activity's number.
        id: u64,
    },
    /// Show or turn the switches of a running server: entrance, share, limits, challenge, backlog.
    Switches {
        #[command(flatten)]
        admin: AdminArgs,
        #[command(subcommand)]
        command: SwitchesCommand,
    },
    /// Show or change who is kept out of a running server: addresses, users, devices.
    Blocks {
        #[command(flatten)]
        admin: AdminArgs,
        #[command(subcommand)]
        command: BlocksCommand,
    },
    /// Show, retry or discard tickets that could not become orders.
    DeadLetters {
        #[command(flatten)]
        admin: AdminArgs,
        #[command(subcommand)]
        command: DeadLettersCommand,
    },
    /// Whether each unit of an activity is accounted for, in three equations; exit 3 where they do not hold.
    Audit {
        #[command(flatten)]
        admin: AdminArgs,
        /// The activity's number.
        id: u64,
    },
    /// The audit log: who did what, newest first.
    AuditRows {
        #[command(flatten)]
        admin: AdminArgs,
        #[command(flatten)]
        args: AuditRowsArgs,
    },
    /// The checklist before a sale; exit 3 where something failed.
    Check {
        #[command(flatten)]
        admin: AdminArgs,
        /// The activity's number; without it only the node and what it stands on.
        id: Option<u64>,
    },
    /// What store, queue and database say of each buyer of an activity, side by side; exit 3 where they differ.
    Reconcile {
        #[command(flatten)]
        admin: AdminArgs,
        #[command(flatten)]
        args: ReconcileArgs,
    },
    /// Of a stopped server: bring store and database together after one of them was lost or restored; first only says what it would do.
    Recover(RecoverArgs),
    /// Of a stopped server: look into the journal, or cut a damaged end off.
    Journal {
        #[command(flatten)]
        data: DataArgs,
        #[command(subcommand)]
        command: JournalCommand,
    },
    /// Measure: load at a given rate, and an audit; with no arguments the canonical sale of 10,000 units to 100,000 users.
    Bench(BenchArgs),
    /// Nodes, store and database that a crowd needs.
    Plan(PlanArgs),
    /// Make tokens of users for curl, ab and wrk, signed with `auth.jwt_secret`.
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

/// Flags of `reconcile`.
#[derive(Debug, Args)]
pub(crate) struct ReconcileArgs {
    /// The activity's number.
    pub(crate) id: u64,
    /// Mend what can be mended safely: enqueue again, finish a ticket, lower the units left.
    #[arg(long)]
    pub(crate) fix: bool,
}
