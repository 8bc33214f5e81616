//! What `recover` and `journal` take: commands for a stopped server.

use clap::{Args, Subcommand};

use super::DataArgs;

/// Flags of `recover`.
#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    /// Only this activity.
    pub(crate) id: Option<u64>,
    /// Do it; without this it is only said what would be done.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Give up the sales that the journal knows and the database does not, with their buyers and tickets.
    #[arg(long)]
    pub(crate) give_up_unknown: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

/// What of the journal.
#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Read all of it and list what is damaged; changes nothing.
    Verify,
    /// Cut a damaged end off, after copying the file aside; then `seckill recover`.
    Repair,
    /// Remove one buyer's entry, as a drill: the audit must notice.
    EraseBuyer {
        /// The activity.
        activity: u64,
        /// The user.
        user: String,
        /// Do it; without this it is only said what would be erased.
        #[arg(long)]
        yes: bool,
    },
}
