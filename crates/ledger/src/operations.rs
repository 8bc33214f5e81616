//! What operators set and what the house itself keeps: switches, blocks, schedules, audit rows, the installation.

use async_trait::async_trait;
use seckill_sale::{Activity, EpochMs, InstallationId};
use serde::{Deserialize, Serialize};

use crate::{Context, Error, NewActivity, Page, PageRequest};

/// The switches as last set, as JSON that the gate reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSwitches {
    /// Counts every change.
    pub revision: u64,
    /// The switches.
    pub json: String,
}

/// What a block names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// An address or a CIDR.
    Ip,
    /// A user id.
    User,
    /// A device id.
    Device,
}

/// A block to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBlock {
    /// What it names.
    pub kind: BlockKind,
    /// The address, CIDR, user or device.
    pub value: String,
    /// Why.
    pub reason: String,
    /// Until when; none: until removed.
    pub expires_at: Option<EpochMs>,
}

/// What becomes of the block that holds where its subject is blocked once more. There is one entry for each, whichever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twice {
    /// It gets reason and end of the later one, and keeps its number: whoever says it last has the word.
    LaterHolds,
    /// It stays as it is, and is given back.
    EarlierHolds,
}

/// Somebody who is kept out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its number.
    pub id: u64,
    /// What it says.
    pub block: NewBlock,
    /// When it was made.
    pub created_at: EpochMs,
}

/// A recurring sale to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSchedule {
    /// The activity of every round; its window's length counts, its start is the round's.
    pub template: NewActivity,
    /// When rounds start: a cron expression of five fields.
    pub cron: String,
    /// The time zone of the expression: an IANA name.
    pub time_zone: String,
    /// How long before its start a round is made, in milliseconds.
    pub lead_ms: i64,
}

/// A recurring sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Its number.
    pub id: u64,
    /// What it says.
    pub schedule: NewSchedule,
    /// Whether it makes rounds.
    pub enabled: bool,
    /// Start of the newest round that was made or given up.
    pub last_round: Option<EpochMs>,
    /// What went wrong with the newest round.
    pub last_error: Option<String>,
    /// When it was created.
    pub created_at: EpochMs,
}

/// One write of an operator or of the house itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Its number.
    pub id: u64,
    /// When.
    pub at: EpochMs,
    /// Who.
    pub actor: String,
    /// What, as a word: `activity.pause`, `switches.patch`, …
    pub action: String,
    /// Which row.
    pub subject: String,
    /// JSON before; empty where there was nothing.
    pub before: String,
    /// JSON after; empty where there is nothing.
    pub after: String,
}

/// What ties the database to its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Installation {
    /// The id; none in a fresh database.
    pub id: Option<InstallationId>,
    /// Number of the newest settlement batch.
    pub settled_batch: u64,
}

/// Switches, blocks, schedules, audit rows, installation.
#[async_trait]
pub trait Operations: Send + Sync + 'static {
    /// Whether the database answers.
    async fn ping(&self) -> Result<(), Error>;
    /// The switches; none where they were never set.
    async fn switches(&self) -> Result<Option<StoredSwitches>, Error>;
    /// Sets the switches where their revision is still `expected` (0: never set); gives the new revision.
    ///
    /// # Errors
    /// [`crate::Conflict::StaleVersion`].
    async fn set_switches(&self, json: String, expected: u64, context: Context) -> Result<u64, Error>;
    /// Blocks that are not over at `now`.
    async fn blocks(&self, now: EpochMs) -> Result<Vec<Block>, Error>;
    /// Makes a block; of a subject that is blocked already, `twice` says what becomes of the block that holds. Idempotent by the context's key.
    async fn add_block(&self, block: NewBlock, twice: Twice, context: Context) -> Result<Block, Error>;
    /// Removes a block.
    async fn remove_block(&self, id: u64, context: Context) -> Result<(), Error>;
    /// Makes a schedule. Idempotent by the context's key.
    async fn create_schedule(&self, schedule: NewSchedule, context: Context) -> Result<Schedule, Error>;
    /// All schedules.
    async fn schedules(&self) -> Result<Vec<Schedule>, Error>;
    /// Switches a schedule on or off.
    async fn set_schedule_enabled(&self, id: u64, enabled: bool, context: Context) -> Result<Schedule, Error>;
    /// Makes the round of a schedule that starts at `round`: a new activity, unique by (schedule, round). Two at once make one.
    ///
    /// # Errors
    /// [`crate::Conflict::RoundExists`]; [`crate::Conflict::ProductShort`], which is kept as the schedule's `last_error`.
    async fn make_round(
        &self,
        id: u64,
        round: EpochMs,
        activity: NewActivity,
        context: Context,
    ) -> Result<Activity, Error>;
    /// Audit rows, newest first.
    async fn audit_rows(&self, page: PageRequest) -> Result<Page<AuditRow>, Error>;
    /// Writes an audit row for something that changed no row of the ledger.
    async fn add_audit_row(
        &self,
        action: String,
        subject: String,
        before: String,
        after: String,
        context: Context,
    ) -> Result<(), Error>;
    /// Installation id and newest batch.
    async fn installation(&self) -> Result<Installation, Error>;
    /// Gives a fresh database its id, and raises the number of its newest settlement batch to at least `settled_batch_min`: an operator
    /// who adopts a database that is older than its journal says by it that he has seen so.
    ///
    /// # Errors
    /// [`crate::Conflict::StaleVersion`] where it has another id; it is left as it is.
    async fn set_installation(&self, id: InstallationId, settled_batch_min: u64) -> Result<(), Error>;
}
