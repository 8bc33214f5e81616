//! What `seckill activity` takes.

use clap::{Args, Subcommand};

/// What to do with activities.
#[derive(Debug, Subcommand)]
pub(crate) enum ActivityCommand {
    /// Make an activity, and a product for it unless one is named.
    Create(CreateArgs),
    /// All activities.
    List,
    /// One activity.
    Show {
        /// The activity.
        id: u64,
    },
    /// Put its stock in place. Allowed at any time before the end; a second time changes nothing.
    Preheat {
        /// The activity.
        id: u64,
    },
    /// Admit nobody until resumed.
    Pause {
        /// The activity.
        id: u64,
    },
    /// Go on.
    Resume {
        /// The activity.
        id: u64,
    },
    /// End for good; unsold units go back to the product.
    Close {
        /// The activity.
        id: u64,
    },
    /// Take units from the product and add them to the sale.
    AddStock {
        /// The activity.
        id: u64,
        /// Units.
        #[arg(long)]
        quantity: u64,
    },
}

/// An activity to make.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Product to sell; without it one is made with the same title and stock.
    #[arg(long)]
    pub(crate) product: Option<u64>,
    /// Title.
    #[arg(long)]
    pub(crate) title: String,
    /// Price of one unit in the sale, in minor units.
    #[arg(long)]
    pub(crate) price_cents: u64,
    /// Currency of a product that is made.
    #[arg(long, default_value = "CNY")]
    pub(crate) currency: String,
    /// Units.
    #[arg(long)]
    pub(crate) stock: u64,
    /// Start, RFC 3339 with offset, such as 2026-11-11T20:00:00+08:00.
    #[arg(long)]
    pub(crate) starts_at: String,
    /// End, RFC 3339 with offset.
    #[arg(long)]
    pub(crate) ends_at: String,
    /// Largest quantity of one purchase.
    #[arg(long, default_value_t = 1)]
    pub(crate) per_user_limit: u64,
    /// Pieces that the store keeps the sale in, for more than one core or server can do; above 1 on a shared store only (redis://…).
    #[arg(long, default_value_t = 1)]
    pub(crate) shards: u64,
    /// What a buyer must get first: nothing, a purchase token, or one for solving a picture or work.
    #[arg(long, default_value = "none", value_parser = ["none", "token", "captcha", "pow"])]
    pub(crate) challenge: String,
}
