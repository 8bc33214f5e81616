//! What `seckill activity` takes.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::EndArgs;

/// What to do with activities.
#[derive(Debug, Subcommand)]
pub(crate) enum ActivityCommand {
    /// Make an activity, and a product for it unless one is named.
    #[command(after_help = EXAMPLES)]
    Create(Box<CreateArgs>),
    /// All activities, newest first.
    List,
    /// One activity.
    Show {
        /// The activity's number.
        id: u64,
    },
    /// Change what the flags name. Price, start and limit are fixed once the sale was preheated or has begun.
    Change(ChangeArgs),
    /// Show a draft to buyers.
    Publish {
        /// The activity's number.
        id: u64,
    },
    /// Who may buy: the list of users of an activity.
    Eligibility {
        #[command(subcommand)]
        command: EligibilityCommand,
    },
    /// Put its stock in place. Allowed at any time before the end; a second time changes nothing.
    Preheat {
        /// The activity's number.
        id: u64,
    },
    /// Admit nobody, until resumed or until a moment. Buyers hear 40006.
    Pause {
        /// The activity's number.
        id: u64,
        #[command(flatten)]
        end: EndArgs,
    },
    /// Go on, now or at a moment.
    Resume {
        /// The activity's number.
        id: u64,
        /// When it goes on, for everybody at once; without it now.
        #[arg(long, value_name = "MOMENT")]
        at: Option<String>,
    },
    /// End for good; unsold units go back to the product.
    Close {
        /// The activity's number.
        id: u64,
    },
    /// Take units from the product and add them to the sale.
    AddStock {
        /// The activity's number.
        id: u64,
        /// Units to add; the product must have them.
        #[arg(long, value_name = "UNITS")]
        quantity: u64,
    },
}

/// What to do with the list of users of an activity.
#[derive(Debug, Subcommand)]
pub(crate) enum EligibilityCommand {
    /// Who may buy.
    Show {
        /// The activity's number.
        id: u64,
    },
    /// Put a list in the place of the present one, whole or not at all.
    Put {
        /// The activity's number.
        id: u64,
        /// One user id a line, up to 1,000,000; or a Bloom filter in JSON, see docs/identity.md.
        file: PathBuf,
    },
    /// Take the list away; a level that is asked for stays.
    Remove {
        /// The activity's number.
        id: u64,
    },
}

const EXAMPLES: &str = "\
A MOMENT is written in RFC 3339 with its offset: 2026-11-11T20:00:00+08:00, or 2026-11-11T12:00:00Z.

Example: 100 units for 99.00 each, for an hour, to whoever is on a list:
  seckill activity create --title Launch --price-cents 9900 --stock 100 \\
      --starts-at 2026-11-11T20:00:00+08:00 --ends-at 2026-11-11T21:00:00+08:00 \\
      --eligibility members.txt";

/// An activity to make.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Number of the product to sell, which must have the units; without it one is made, with this title, price and stock.
    #[arg(long, value_name = "ID")]
    pub(crate) product: Option<u64>,
    /// What buyers see.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: String,
    /// Price of one unit in minor units of the currency: 9900 are 99.00.
    #[arg(long, value_name = "CENTS")]
    pub(crate) price_cents: u64,
    /// Currency of the product that is made; of one that is named it stands there.
    #[arg(long, value_name = "CODE", default_value = "CNY")]
    pub(crate) currency: String,
    /// Units on sale.
    #[arg(long, value_name = "UNITS")]
    pub(crate) stock: u64,
    /// When it starts; may lie in the past, then it is open at once.
    #[arg(long, value_name = "MOMENT")]
    pub(crate) starts_at: String,
    /// When it ends.
    #[arg(long, value_name = "MOMENT")]
    pub(crate) ends_at: String,
    /// Units that one buyer may take, in his one purchase.
    #[arg(long, value_name = "UNITS", default_value_t = 1)]
    pub(crate) per_user_limit: u64,
    /// What a buyer needs besides a click: nothing, a purchase token, or a token for a picture (captcha) or work (pow) that was solved.
    #[arg(long, value_name = "KIND", default_value = "none", value_parser = CHALLENGES)]
    pub(crate) challenge: String,
    /// For users from this level on; the level is a claim of their token (`auth.level_claim`).
    #[arg(long, value_name = "LEVEL")]
    pub(crate) min_level: Option<u32>,
    /// For the users of this file, one id a line (or a Bloom filter). Nobody sees the activity before its list is in force.
    #[arg(long, value_name = "FILE")]
    pub(crate) eligibility: Option<PathBuf>,
    /// Leave it a draft, which buyers do not see, until `seckill activity publish`.
    #[arg(long)]
    pub(crate) draft: bool,
    /// A sentence for buyers, shown beside the sale.
    #[arg(long, value_name = "TEXT")]
    pub(crate) notice: Option<String>,
    /// Pieces that the store keeps the sale in, where it is more than one core or server can do. Above 1 on a shared store only (redis://…).
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub(crate) shards: u64,
}

/// A change of an activity.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true).args([
    "title", "price_cents", "starts_at", "ends_at", "per_user_limit", "challenge", "min_level", "for_everybody", "notice", "no_notice",
]))]
pub(crate) struct ChangeArgs {
    /// The activity's number.
    pub(crate) id: u64,
    /// What buyers see.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Price of one unit in minor units of the currency: 9900 are 99.00.
    #[arg(long, value_name = "CENTS")]
    pub(crate) price_cents: Option<u64>,
    /// When it starts.
    #[arg(long, value_name = "MOMENT")]
    pub(crate) starts_at: Option<String>,
    /// When it ends.
    #[arg(long, value_name = "MOMENT")]
    pub(crate) ends_at: Option<String>,
    /// Units that one buyer may take, in his one purchase.
    #[arg(long, value_name = "UNITS")]
    pub(crate) per_user_limit: Option<u64>,
    /// What a buyer needs besides a click.
    #[arg(long, value_name = "KIND", value_parser = CHALLENGES)]
    pub(crate) challenge: Option<String>,
    /// For users from this level on; a list of users stays.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) min_level: Option<u32>,
    /// For everybody: asks for no level any more, and takes the list of users away.
    #[arg(long, conflicts_with = "min_level")]
    pub(crate) for_everybody: bool,
    /// A sentence for buyers, shown beside the sale.
    #[arg(long, value_name = "TEXT")]
    pub(crate) notice: Option<String>,
    /// Take that sentence away.
    #[arg(long, conflicts_with = "notice")]
    pub(crate) no_notice: bool,
}

const CHALLENGES: [&str; 4] = ["none", "token", "captcha", "pow"];
