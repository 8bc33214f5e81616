//! What others ask of the sequencer.

use seckill_queue::{Taken, Verdict, Verdicts};
use seckill_sale::{ActivityId, Buyer, Claim, EpochMs, Figures, Hold, NotReady, RequestId, Terms, Ticket, UserId};
use seckill_stock::{Answer, OpenOutcome, Opening, Rebase};
use tokio::sync::oneshot;

use crate::Error;
use crate::replies::Replies;

/// A reply that leaves only when everything it tells is durable.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What the sequencer does.
pub(crate) enum Command {
    Claim(Vec<Claim>, oneshot::Sender<Vec<Answer>>),
    Take(usize, Reply<Taken>),
    Record(Verdicts, Reply<()>),
    Revive(Ticket, Reply<()>),
    Open(Box<Opening>, Reply<OpenOutcome>),
    Rebase(Rebase, Reply<()>),
    Change(Terms, Reply<()>),
    Hold(ActivityId, Hold, Reply<()>),
    Release(ActivityId, Hold, Reply<()>),
    KeepSwitches {
        instead_of: String,
        switches: String,
        reply: Reply<Option<String>>,
    },
    Switches(Reply<Option<String>>),
    Permit([u8; 16], u32, EpochMs, Reply<bool>),
    Move {
        activity: ActivityId,
        movement: u64,
        delta: i64,
        reply: Reply<()>,
    },
    Forget(ActivityId, Reply<()>),
    Erase(ActivityId, UserId, Reply<bool>),
    Buyer(ActivityId, UserId, Reply<Option<Buyer>>),
    Figures(ActivityId, Reply<Option<Figures>>),
    DeadLetters(ActivityId, Reply<Vec<(Buyer, String)>>),
    Activities(Reply<Vec<ActivityId>>),
}

impl Command {
    /// More bytes than the records of this command take; 0 for one that writes nothing.
    pub(crate) fn bytes_max(&self) -> usize {
        /// More than a record takes beside its texts: kind, numbers, key.
        const FIXED: usize = 96;
        match self {
            Self::Claim(claims, _) => claims.len() * (FIXED + UserId::LENGTH_MAX + RequestId::LENGTH_MAX),
            Self::Record(verdicts, _) => verdicts
                .tickets
                .iter()
                .map(|(_, verdict)| FIXED + verdict_text_bytes(verdict))
                .sum(),
            Self::Rebase(rebase, _) => FIXED + rebase.requeue.len() * (FIXED + UserId::LENGTH_MAX),
            // A large state is written in frames of its own, so only the first of them counts here.
            Self::Open(..)
            | Self::Revive(..)
            | Self::Change(..)
            | Self::Hold(..)
            | Self::Release(..)
            | Self::Move { .. }
            | Self::Permit(..)
            | Self::Forget(..)
            | Self::Erase(..) => FIXED + UserId::LENGTH_MAX,
            Self::KeepSwitches { switches, .. } => FIXED + switches.len(),
            Self::Take(..)
            | Self::Buyer(..)
            | Self::Figures(..)
            | Self::DeadLetters(..)
            | Self::Activities(..)
            | Self::Switches(..) => 0,
        }
    }

    /// Whether it can only write. Claims also have answers that write nothing.
    pub(crate) const fn only_writes(&self) -> bool {
        matches!(
            self,
            Self::Record(..)
                | Self::Revive(..)
                | Self::Open(..)
                | Self::Rebase(..)
                | Self::Change(..)
                | Self::Hold(..)
                | Self::Release(..)
                | Self::Move { .. }
                | Self::Forget(..)
                | Self::Erase(..)
        )
    }

    /// Whether it may write, claims aside.
    pub(crate) const fn writes(&self) -> bool {
        self.only_writes() || matches!(self, Self::KeepSwitches { .. } | Self::Permit(..))
    }

    /// Answers that there is no space.
    pub(crate) fn refuse(self, replies: &mut Replies) {
        const FULL: Error = Error::NotReady(NotReady::StoreFull);
        match self {
            Self::Record(_, reply)
            | Self::Revive(_, reply)
            | Self::Rebase(_, reply)
            | Self::Change(_, reply)
            | Self::Hold(_, _, reply)
            | Self::Release(_, _, reply)
            | Self::Forget(_, reply) => {
                replies.add(reply, Err(FULL));
            }
            Self::Move { reply, .. } => replies.add(reply, Err(FULL)),
            Self::Open(_, reply) => replies.add(reply, Err(FULL)),
            Self::Erase(_, _, reply) => replies.add(reply, Err(FULL)),
            Self::Claim(..)
            | Self::KeepSwitches { .. }
            | Self::Permit(..)
            | Self::Take(..)
            | Self::Buyer(..)
            | Self::Figures(..)
            | Self::DeadLetters(..)
            | Self::Activities(..)
            | Self::Switches(..) => {}
        }
    }
}

fn verdict_text_bytes(verdict: &Verdict) -> usize {
    match verdict {
        Verdict::Bury { reason } => reason.len(),
        Verdict::Conclude(_) | Verdict::Retry { .. } | Verdict::GiveBack { .. } => 0,
    }
}
