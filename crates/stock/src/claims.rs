//! The handle with which claims line up for the batcher of their core.

use std::sync::Arc;

use seckill_sale::{Claim, Refusal};
use tokio::sync::oneshot;

use crate::Answer;
use crate::line::{Shared, Waiting, refuse, refuse_late};
use crate::lines::Joined;

/// Handle for those who claim.
#[derive(Clone)]
pub struct Claims(pub(crate) Arc<Shared>);

impl Claims {
    /// Asks the store for units. The claim goes on even where the caller stops waiting.
    ///
    /// # Errors
    /// The store's refusal; [`Refusal::Busy`] where it was not handed to the store since too many claims wait, [`Refusal::Late`] where it
    /// was not since it waited too long; [`Refusal::OutcomeUnknown`] where the store has it and doesn't answer in time.
    pub fn claim(&self, claim: Claim) -> impl Future<Output = Answer> + Send + use<> {
        // In line before the first poll, so that the future keeps no claim while it waits.
        let answer = self.line_up(claim);
        async move { answer?.await.unwrap_or(Err(Refusal::OutcomeUnknown)) }
    }

    fn line_up(&self, claim: Claim) -> Result<oneshot::Receiver<Answer>, Refusal> {
        let (reply, answer) = oneshot::channel();
        let since = self.0.store.now();
        let waiting = Waiting { claim, since, reply };
        let joined = self.0.lines.lock().join(waiting, &self.0.bounds);
        let Joined {
            first,
            late,
            pushed_out,
        } = joined?;
        refuse(pushed_out, &Refusal::Busy);
        refuse_late(late.into_iter().flatten());
        if first {
            self.0.arrived.notify_one();
        }
        Ok(answer)
    }

    /// Claims that wait for their batch.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.lines.lock().waiting()
    }
}
