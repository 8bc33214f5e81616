//! The bounded inbox that carries what others ask to the sequencer.
//!
//! Claims go on gathering while they wait here; a batch is closed when the sequencer takes it, so that no batch that still gathers ever
//! reaches a turn, which reserves space for what it is given.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use seckill_stock::{Answer, Gathering};
use tokio::sync::oneshot;

use crate::command::Command;

/// Commands that wait for the sequencer.
#[derive(Default)]
pub(crate) struct Inbox {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    asked: Vec<Asked>,
    permits: usize,
    closed: bool,
}

enum Asked {
    Command(Command),
    /// Claims that go on gathering until they leave the inbox.
    Gathering(Gathering, oneshot::Sender<Vec<Answer>>),
}

impl Asked {
    /// What the sequencer is to do; a batch that gathered is closed.
    fn command(self) -> Command {
        match self {
            Self::Command(command) => command,
            Self::Gathering(gathering, reply) => Command::Claim(gathering.take(), reply),
        }
    }
}

impl Inbox {
    /// Commands that may wait. Batchers have two batches each in flight, workers one command each; this is far more.
    const COMMANDS_MAX: usize = 4_096;

    /// Permits that may wait among them: whoever solves a puzzle never takes the places of claims and workers.
    const PERMITS_MAX: usize = 1_024;

    /// Hands a command over; gives it back where the inbox is full or closed.
    pub(crate) fn put(&self, command: Command) -> Result<(), Command> {
        self.put_asked(Asked::Command(command)).map_err(Asked::command)
    }

    /// Hands over a batch that goes on gathering; gives it back, closed now, where the inbox is full or closed.
    pub(crate) fn put_gathering(
        &self,
        gathering: Gathering,
        reply: oneshot::Sender<Vec<Answer>>,
    ) -> Result<(), Command> {
        self.put_asked(Asked::Gathering(gathering, reply))
            .map_err(Asked::command)
    }

    fn put_asked(&self, asked: Asked) -> Result<(), Asked> {
        let mut waiting = self.waiting.lock();
        if waiting.closed || Self::COMMANDS_MAX <= waiting.asked.len() {
            return Err(asked);
        }
        if matches!(asked, Asked::Command(Command::Permit(..))) {
            if Self::PERMITS_MAX <= waiting.permits {
                return Err(asked);
            }
            waiting.permits += 1;
        }
        waiting.asked.push(asked);
        if waiting.asked.len() == 1 {
            drop(waiting);
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Everything that waits now; batches that gathered are closed.
    pub(crate) fn take(&self) -> Vec<Command> {
        let mut waiting = self.waiting.lock();
        waiting.permits = 0;
        let asked = std::mem::take(&mut waiting.asked);
        drop(waiting);
        asked.into_iter().map(Asked::command).collect()
    }

    /// Waits for a command, at most `at_most`; false once the inbox is closed and empty.
    pub(crate) fn wait(&self, at_most: Duration) -> bool {
        let mut waiting = self.waiting.lock();
        if waiting.asked.is_empty() && !waiting.closed {
            self.arrived.wait_for(&mut waiting, at_most);
        }
        !waiting.asked.is_empty() || !waiting.closed
    }

    /// Takes no more commands; those that wait are still done.
    pub(crate) fn close(&self) {
        self.waiting.lock().closed = true;
        self.arrived.notify_one();
    }
}
