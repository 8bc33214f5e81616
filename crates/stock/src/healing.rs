//! What a store that can lose a state, or part of one, tells whoever heals it.
//!
//! ```text
//! sound ──server started anew, or another took its place──▶ doubtful ──confirm──▶ sound
//!   │                                                           │
//!   └──a key lost or spoiled──▶ broken ──────────give_up────────┴──▶ in hand ──open──▶ sound
//! ```
//! Only a sound state admits, hands out and records. Every other one changes nothing until it is healed.
//!
//! A state says when its sale was created ([`seckill_sale::Terms::created_at`]), and a handle is told the same of every sale of the ledger
//! ([`crate::Stock::set_created`]). Where the two differ the state belongs to a sale that the ledger has lost: to whoever calls it is as if
//! it were broken, whatever else is the matter with it, until [`crate::Stock::give_up_another`] takes it away for good.

use seckill_sale::{ActivityId, Epoch, Figures, Restored, UserId};

/// Whether the state of a sale can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// There is none.
    Absent {
        /// Whether there may have been one that is lost: this store can lose states.
        may_be_lost: bool,
    },
    /// It is in use.
    Sound {
        /// Its epoch; none where no other state can ever take its place behind the handle's back.
        epoch: Option<Epoch>,
    },
    /// It is whole, but perhaps older than what was promised: it was restarted, restored, or copied to another server.
    Doubtful(Box<Figures>),
    /// A part of it is lost or spoiled, or its builder died.
    Broken,
    /// Somebody builds it just now.
    InHand,
    /// It is the state of another sale, which had this number before: the ledger has lost that one, and gave its number out again.
    Another {
        /// Its epoch, the latest of all its parts.
        epoch: Epoch,
    },
}

/// How a state is put right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// It goes on in place, confirmed or raised.
    InPlace,
    /// It is built, which takes memory.
    Build,
}

/// A doubtful state that was found to be as new as the ledger, or a sound one whose epoch the ledger has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confirmed {
    /// The sale.
    pub activity: ActivityId,
    /// The new epoch.
    pub epoch: Epoch,
    /// Sequence of the next ticket, at least.
    pub next_sequence: u64,
    /// How it was counted; none for a sound state, whose units stay.
    pub counted: Option<Counted>,
    /// As in [`crate::Opening`], where it is known to lack tickets.
    pub grace_ms: u64,
}

/// What was counted of a doubtful state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// [`Figures::revision`] of the state that was counted: another one is not confirmed.
    pub revision: u64,
    /// Units that can be admitted. Those of a sale of several shards stay where they are: others than its [`Figures::stock_left`] are not
    /// confirmed.
    pub left: u64,
    /// Last movement contained in `left`.
    pub applied_movement: u64,
}

/// What came of giving up a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenUp {
    /// It is out of use: every buyer that any part of it still names, in the order of their tickets.
    Remains(Vec<Restored>),
    /// It can be used; nothing was changed.
    Sound,
    /// It has this epoch already; nothing was changed. Ask with a later one.
    Newer(Epoch),
}

/// How a sale whose state exists is brought in line with a ledger that knows less (it was restored from an older copy).
#[derive(Debug, Clone)]
pub struct Rebase {
    /// The sale.
    pub activity: ActivityId,
    /// The new epoch.
    pub epoch: Epoch,
    /// Units that can be admitted.
    pub left: u64,
    /// Last movement contained in `left`.
    pub applied_movement: u64,
    /// Whether the units left may become more than there are; else those that are left by then stay, where they are fewer.
    pub may_rise: bool,
    /// Buyers with a final result that the ledger does not have: queued again.
    pub requeue: Vec<UserId>,
}
