//! What others ask of the sequencer, and the bounded inbox that carries it.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use seckill_queue::{Verdict, Verdicts};
use seckill_sale::{ActivityId, Buyer, Claim, Delivery, Figures, Hold, NotReady, RequestId, Terms, Ticket, UserId};
use seckill_stock::{Answer, Gathering, OpenOutcome, Opening, Rebase};
use tokio::sync::oneshot;

use crate::Error;
use crate::replies::Replies;

/// A reply that leaves only when everything it tells is durable.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What the sequencer does.
pub(crate) enum Command {
    Claim(Vec<Claim>, oneshot::Sender<Vec<Answer>>),
    /// Claims that go on gathering until this command leaves the inbox; it is a [`Command::Claim`] from then on.
    Gathered(Gathering, oneshot::Sender<Vec<Answer>>),
    Take(usize, Reply<Vec<Delivery>>),
    Record(Verdicts, Reply<()>),
    Revive(Ticket, Reply<()>),
    Open(Box<Opening>, Reply<OpenOutcome>),
    Rebase(Rebase, Reply<()>),
    Change(Terms, Reply<()>),
    Hold(ActivityId, Hold, Reply<()>),
    Release(ActivityId, Hold, Reply<()>),
    KeepSwitches(String, Reply<()>),
    Switches(Reply<Option<String>>),
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
            | Self::Forget(..)
            | Self::Erase(..) => FIXED + UserId::LENGTH_MAX,
            Self::KeepSwitches(switches, _) => FIXED + switches.len(),
            Self::Gathered(..)
            | Self::Take(..)
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
            | Self::Gathered(..)
            | Self::KeepSwitches(..)
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

/// Commands that wait for the sequencer.
#[derive(Default)]
pub(crate) struct Inbox {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    commands: Vec<Command>,
    closed: bool,
}

impl Inbox {
    /// Commands that may wait. Batchers have two batches each in flight, workers one command each; this is far more.
    const COMMANDS_MAX: usize = 4_096;

    /// Hands a command over; gives it back where the inbox is full or closed.
    pub(crate) fn put(&self, command: Command) -> Result<(), Command> {
        let mut waiting = self.waiting.lock();
        if waiting.closed || Self::COMMANDS_MAX <= waiting.commands.len() {
            return Err(command);
        }
        waiting.commands.push(command);
        if waiting.commands.len() == 1 {
            drop(waiting);
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Everything that waits now; batches that gathered are closed.
    pub(crate) fn take(&self) -> Vec<Command> {
        let commands = std::mem::take(&mut self.waiting.lock().commands);
        let formed = commands.into_iter().map(|command| match command {
            Command::Gathered(gathering, reply) => Command::Claim(gathering.take(), reply),
            command => command,
        });
        formed.collect()
    }

    /// Waits for a command, at most `at_most`; false once the inbox is closed and empty.
    pub(crate) fn wait(&self, at_most: Duration) -> bool {
        let mut waiting = self.waiting.lock();
        if waiting.commands.is_empty() && !waiting.closed {
            self.arrived.wait_for(&mut waiting, at_most);
        }
        !waiting.commands.is_empty() || !waiting.closed
    }

    /// Takes no more commands; those that wait are still done.
    pub(crate) fn close(&self) {
        self.waiting.lock().closed = true;
        self.arrived.notify_one();
    }
}
