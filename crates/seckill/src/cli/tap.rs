//! What an operator turns while a sale runs: `switches`, `blocks`, `dead-letters`; and what was turned: `audit-rows`.

use clap::{Args, Subcommand};

/// Until when something holds.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct EndArgs {
    /// Until when: RFC 3339 with offset, such as 2026-11-11T20:10:00+08:00.
    #[arg(long, visible_alias = "until", value_name = "MOMENT")]
    pub(crate) expires_at: Option<String>,
    /// For how long from now on, such as 10m, by this machine's clock.
    #[arg(long = "for", value_name = "DURATION")]
    pub(crate) lasts: Option<String>,
}

/// What to do with the switches.
#[derive(Debug, Subcommand)]
pub(crate) enum SwitchesCommand {
    /// The switches in force, and what the node does by itself.
    Show,
    /// Change what is named; all nodes follow within a second.
    #[command(after_help = MEMBERS)]
    Set(SetArgs),
}

const MEMBERS: &str = "\
Switches, as in docs/switches.md:
  entry_open=true|false         the whole entrance
  read_only=true|false          purchases, payments and cancellations are refused
  admit_ratio=0…1               share of the purchases that is let in
  challenge=KIND                none, token, captcha or pow for all sales; null: as each sale says
  limits.WHOSE=RATE             of ip, network, user, device, activity or node: \"20/s burst 40\",
                                off; null: as the settings say
  backlog_max=TICKETS           tickets that may wait for their order
  backlog_resume=TICKETS        after that, nobody is admitted until fewer wait; null: 80 % of it
  backlog_oldest_max_s=SECONDS  how long the oldest ticket may wait; 0: for ever
  auto_admit=off                no node lowers its share by itself while its store is slow
  auto_admit.store_p99_ms=MS    from when on a store is slow; auto_admit.step=0.1: how fast its
                                share rises again

Examples:
  seckill switches set entry_open=false
  seckill switches set admit_ratio=0.25 --for 10m --dry-run
  seckill switches set challenge=pow limits.ip=\"20/s burst 40\"";

/// A change of the switches.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Switches with their values.
    #[arg(required = true, value_name = "NAME=VALUE")]
    pub(crate) members: Vec<String>,
    /// Change nothing; say who would hear what.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) end: EndArgs,
    /// Only while this revision is in force (`seckill switches show`); else nothing is changed, and it exits 1.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) revision: Option<u64>,
}

/// What a block is of, in the API's words.
pub(crate) const BLOCK_KINDS: [&str; 3] = ["ip", "user", "device"];

/// What to do with the block list.
#[derive(Debug, Subcommand)]
pub(crate) enum BlocksCommand {
    /// Keep somebody out; all nodes follow within a second. Buyers hear 40300.
    Add {
        /// What is blocked.
        #[arg(value_parser = BLOCK_KINDS)]
        kind: String,
        /// An address or network (203.0.113.0/24), a user id, or a device id.
        value: String,
        /// Why, for the list and the audit log.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        end: EndArgs,
        /// So wide a network is meant (IPv4 wider than /8, IPv6 wider than /19).
        #[arg(long)]
        force: bool,
    },
    /// Who is kept out.
    List,
    /// Let somebody in again: every block of his, or one by its number.
    Remove {
        /// A block's number, or what is blocked: ip, user, device.
        #[arg(value_name = "ID|KIND")]
        which: String,
        /// The address, network, user id or device id, behind a KIND.
        value: Option<String>,
    },
}

/// What to do with tickets that could not be written.
#[derive(Debug, Subcommand)]
pub(crate) enum DeadLettersCommand {
    /// All of them, newest first.
    List,
    /// Put one back into the queue.
    Retry {
        /// The letter's number.
        id: u64,
    },
    /// Fail one for good; its units go back once.
    Discard {
        /// The letter's number.
        id: u64,
        /// Why, for the list and the audit log.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

/// Which rows of the audit log.
#[derive(Debug, Args)]
pub(crate) struct AuditRowsArgs {
    /// Most rows that are shown.
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: u64,
    /// Only rows older than the one with this number: the way to the next rows.
    #[arg(long, value_name = "ID")]
    pub(crate) before: Option<u64>,
    /// Only what this actor did: admin, expired, abuse rule, …
    #[arg(long, value_name = "NAME")]
    pub(crate) actor: Option<String>,
    /// Only this action, or this kind of action: block.add, or block for all of them.
    #[arg(long, value_name = "ACTION")]
    pub(crate) action: Option<String>,
    /// Only what was done to this: "activity 1".
    #[arg(long, value_name = "SUBJECT")]
    pub(crate) subject: Option<String>,
    /// Only what was done from this moment on: RFC 3339 with offset.
    #[arg(long, value_name = "MOMENT")]
    pub(crate) since: Option<String>,
}
