//! How long whoever asks waits for the sequencer, whose disk may not answer.
//!
//! The first one who is not answered in time says at which batch that was. As long as that batch has not ended, the store hangs: whoever
//! asks then is told at once that nothing was changed, so that no number of requests and no lock between them adds waits up. When the
//! disk is back the batch ends, and everything goes on.

use std::sync::atomic::Ordering;
use std::time::Duration;

use seckill_sale::NotReady;
use tokio::sync::oneshot;

use crate::command::{Command, Reply};
use crate::{Embedded, Error};

impl Embedded {
    /// The same engine by a handle that waits for an answer so long, and not for ever; claims, which their batcher bounds, and workers
    /// that take tickets aside. Whoever asks needs a runtime with timers then.
    #[must_use]
    pub fn answering_within(self, limit: Duration) -> Self {
        Self {
            answer_within: Some(limit),
            ..self
        }
    }

    /// Whether somebody has waited in vain for the batch that is under way: the disk does not answer.
    #[must_use]
    pub fn hangs(&self) -> bool {
        self.shared.hung_at.load(Ordering::Relaxed) == self.shared.batches_ended()
    }

    /// Asks, and waits for the answer within the bound.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where nothing was changed: the store hangs, is full of commands or closed, or a reader was not answered in
    /// time. [`Error::OutcomeUnknown`] where a writer was not: it is done when the disk is back. Holds and their ends, and the
    /// results that a worker has from the ledger, are handed over to a store that hangs, too.
    pub(crate) async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let command = command(reply);
        let hangs = self.hangs();
        let is_handed_over = matches!(command, Command::Hold(..) | Command::Release(..) | Command::Record(..));
        if hangs && !is_handed_over {
            return Err(Error::Unavailable);
        }
        let late = if command.writes() {
            Error::OutcomeUnknown
        } else {
            Error::Unavailable
        };
        let batches_ended = self.shared.batches_ended();
        self.hand_over(command)?;
        if hangs {
            return Err(late);
        }
        let Some(limit) = self.answer_within else {
            return answer.await.unwrap_or(Err(Error::OutcomeUnknown));
        };
        match tokio::time::timeout(limit, answer).await {
            Ok(answer) => answer.unwrap_or(Err(Error::OutcomeUnknown)),
            Err(_late) => {
                if self.shared.batches_ended() == batches_ended {
                    tracing::warn!(?limit, "the journal's disk has not answered in time");
                    self.shared.hung_at.store(batches_ended, Ordering::Relaxed);
                }
                Err(late)
            }
        }
    }

    /// As [`Embedded::ask`], for a worker that takes tickets: he waits as long as it takes, since he would only ask again, and what nobody
    /// waits for any more would be taken all the same and wait for its lease to end.
    pub(crate) async fn ask_patiently<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.hand_over(command(reply))?;
        answer.await.unwrap_or(Err(Error::OutcomeUnknown))
    }

    fn hand_over(&self, command: Command) -> Result<(), Error> {
        if self.shared.is_broken() {
            return Err(Error::NotReady(NotReady::StoreReadOnly));
        }
        self.inbox.put(command).map_err(|_| Error::Unavailable)
    }
}
