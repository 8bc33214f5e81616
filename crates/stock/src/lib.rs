//! Contract of the stock layer: one atomic, durable step decides a claim and records it as stock, buyer and order intent.
//!
//! The trait, its errors, the batcher that every node puts in front of an engine, and the conformance suite that every engine passes.
//! It names no engine and knows nothing of HTTP or SQL.

mod batcher;
mod brake;
mod claims;
pub mod conformance;
mod examined;
mod healing;
mod line;
mod lines;
pub mod members;
mod opening;
mod queues;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use seckill_sale::{
    ActivityId, Buyer, Claim, Epoch, EpochMs, Figures, NotReady, Refusal, Restored, Shards, SharedRate, Terms, Ticket,
    UserId,
};

pub use batcher::{Batcher, Step};
pub use brake::{Brake, SWITCHES_BYTES_MAX, Standing, WAITING_MS};
pub use claims::Claims;
pub use examined::Examined;
pub use healing::{Condition, Confirmed, Counted, GivenUp, Rebase, Remedy};
pub use line::{Bounds, Gathering};
pub use members::{Living, Member, Members};
pub use opening::Opening;

/// Why the store gave no answer of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing was changed: overloaded, shutting down, or not to be reached.
    #[error("the store is busy or cannot be reached; nothing was changed")]
    Unavailable,
    /// It may or may not have been done.
    #[error("the store's answer was lost; the outcome is not known")]
    OutcomeUnknown,
    /// It cannot admit now, for this reason; nothing was changed.
    #[error("the store cannot admit now: {}", .0.as_str())]
    NotReady(NotReady),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable => Self::Busy,
            Error::OutcomeUnknown => Self::OutcomeUnknown,
            Error::NotReady(reason) => Self::NotReady(reason),
        }
    }
}

/// An admission that is durable. Only a store makes it; the flow turns it into a "queued" answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserved {
    /// The buyer's ticket.
    pub ticket: Ticket,
    /// The store's time of the decision.
    pub accepted_at: EpochMs,
    /// Whether this very request (same key, same quantity) was admitted before.
    pub replayed: bool,
}

/// What a claim comes to.
pub type Answer = Result<Reserved, Refusal>;

/// What is known of a user without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Glance {
    /// He has a durable ticket.
    Holds(Box<Buyer>),
    /// Nothing is known of him and the sale is sold out for everybody.
    SoldOut,
    /// Nothing is known of him; the sale has units.
    Stranger,
    /// Ask the store.
    Ask,
}

/// What `open` did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenOutcome {
    /// The state was created as told.
    Created,
    /// There is a state already; nothing was changed.
    Exists {
        /// Its epoch.
        epoch: Epoch,
    },
}

/// The stock of all sales.
///
/// Every method that changes something has made it durable before it returns `Ok`. Where it says [`Error::Unavailable`], nothing was changed,
/// and nothing will be; where it says [`Error::OutcomeUnknown`], it may be done later. A store that is known to hang says `Unavailable` at once,
/// to whoever reads, too; what it takes all the same is said at [`Brake`].
#[async_trait]
pub trait Stock: Brake + Examined {
    /// The clock that decides windows.
    fn now(&self) -> EpochMs;

    /// How far [`Stock::now`] may be off the clock that decides, in milliseconds; 0 where it is that clock.
    fn clock_uncertainty_ms(&self) -> i64;

    /// What memory alone knows. Costs no IO.
    fn glance(&self, activity: ActivityId, user: &UserId) -> Glance;

    /// Units left as last published; none where the sale has no state. Costs no IO.
    fn stock_left(&self, activity: ActivityId) -> Option<u64>;

    /// Every ticket that was accepted before this one and has a sequence up to this is settled or dead; none where the sale has no state.
    /// Sub-stocks settle each at its own pace, so it is told of the ticket's own: for one ticket it never falls while tickets only leave the
    /// queue, and what is between it and the ticket's sequence is about how many wait before it. Costs no IO.
    fn settled_up_to(&self, ticket: Ticket) -> Option<u64>;

    /// Decides a batch. Within it a later claim sees the earlier one's outcome. Answers stand in the order of the claims.
    async fn claim(&self, batch: Vec<Claim>) -> Vec<Answer>;

    /// Decides a batch that gathers until the store begins with it; as [`Stock::claim`].
    async fn claim_gathered(&self, gathering: Gathering) -> Vec<Answer> {
        self.claim(gathering.take()).await
    }

    /// The durable ticket of a user.
    async fn buyer(&self, activity: ActivityId, user: &UserId) -> Result<Option<Buyer>, Error>;

    /// Takes a permit of a rate that all nodes of this store count together; milliseconds until the next one where there is none left. A
    /// store that is one node's own has nothing to count: what the gate counted was all.
    async fn take_of_rate(&self, _rate: &SharedRate) -> Result<Option<u64>, Error> {
        Ok(None)
    }

    /// All figures of a sale; none where it has no state.
    async fn figures(&self, activity: ActivityId) -> Result<Option<Figures>, Error>;

    /// Sales that have a state.
    async fn activities(&self) -> Result<Vec<ActivityId>, Error>;

    /// Creates the state of a sale where it has none (preheat, rebuild), or in place of the one that the opening replaces.
    async fn open(&self, opening: Opening) -> Result<OpenOutcome, Error>;

    /// Whether the state of a sale can be used. A store that never loses one without its process knows by itself.
    async fn condition(&self, activity: ActivityId) -> Result<Condition, Error> {
        Ok(match self.stock_left(activity) {
            Some(_) => Condition::Sound { epoch: None },
            None => Condition::Absent { may_be_lost: false },
        })
    }

    /// Whether the store could write what heals the state of a sale now: asked before an epoch is drawn for it. What is found to be possible
    /// may fail all the same.
    ///
    /// # Errors
    /// Why it could not, where that is known before it is tried; nothing was changed.
    async fn can_heal(&self, _activity: ActivityId, _shards: Shards, _by: Remedy) -> Result<(), Error> {
        Ok(())
    }

    /// What this handle read last of a sale, whatever has become of its state since; none where states are never lost. Costs no IO.
    fn last_seen(&self, _activity: ActivityId) -> Option<Figures> {
        None
    }

    /// Puts a state into use again; false where it is no more as it was counted, or newer already: nothing was changed.
    async fn confirm(&self, _confirmed: Confirmed) -> Result<bool, Error> {
        Ok(true)
    }

    /// Takes whatever is left of a state that is not sound out of use, for [`Stock::open`] to build that of `epoch`. What it knows is kept
    /// until the new one is built, so whoever gives it up once more, after a crash in between, is told the same. `shards`: as the ledger has it.
    async fn give_up(&self, activity: ActivityId, _shards: Shards, _epoch: Epoch) -> Result<GivenUp, Error> {
        Ok(match self.stock_left(activity) {
            Some(_) => GivenUp::Sound,
            None => GivenUp::Remains(Vec::new()),
        })
    }

    /// Tells the handle when each sale of the ledger was created, in the place of those told before. From now on a state that says otherwise
    /// is one of another sale that had the number: it admits nobody, hands out nothing, changes nothing, and is [`Condition::Another`].
    /// A sale that is not told of, and a state that says nothing, may be used.
    fn set_created(&self, created: BTreeMap<ActivityId, EpochMs>);

    /// Takes a state that is [`Condition::Another`] out of the store for good; gives every buyer that it names. Any other state stays, and
    /// nothing is given. Asked again after a crash it goes on.
    async fn give_up_another(&self, activity: ActivityId) -> Result<Vec<Restored>, Error>;

    /// Brings an existing state in line with the ledger.
    async fn rebase(&self, rebase: Rebase) -> Result<(), Error>;

    /// Changes rules or status.
    async fn change(&self, terms: Terms) -> Result<(), Error>;

    /// Applies a stock movement of the ledger once: a second time, or one older than the last applied, changes nothing.
    async fn apply_movement(&self, activity: ActivityId, movement: u64, delta: i64) -> Result<(), Error>;

    /// The durable buyers of a sale in parts, counted from 0; none past the last part.
    async fn buyers_page(&self, activity: ActivityId, page: u32) -> Result<Option<Vec<Buyer>>, Error>;

    /// Drops the state of a closed sale whose tickets are all final. What its buyers may ask is in the ledger.
    async fn forget(&self, activity: ActivityId) -> Result<(), Error>;

    /// Takes one of the `max` permits of a key, and says whether there was one: false where `max` were taken, by whomever on whichever node,
    /// or `until` is over by the store's clock. So `max` = 1 makes a thing single-use. The first one taken says until when the key is
    /// remembered; from then on it starts afresh. Keys are the caller's to make unlikely to meet: 127 bits of a keyed hash.
    /// The first bit tells two kinds apart (0: of challenges, 1: of signed requests); where there is a bound, each kind has its own.
    ///
    /// # Errors
    /// [`Error::Unavailable`] also where too many keys are remembered or wait: nothing was taken. [`Error::NotReady`] where there is no
    /// space. Where [`Error::OutcomeUnknown`], a permit may be gone without anybody having it.
    async fn permit(&self, key: [u8; 16], max: u32, until: EpochMs) -> Result<bool, Error>;

    /// Room for tickets over all sales, shared among them as [`seckill_sale::Rooms`] says: a claim past that of its sale is refused as
    /// backlog full.
    fn set_backlog_max(&self, tickets: u64);

    /// Sales that have no room at all from now on, in the place of those told before. Who holds a ticket, or comes to a sale without units,
    /// still hears just that.
    fn set_held_back(&self, sales: BTreeSet<ActivityId>);
}
