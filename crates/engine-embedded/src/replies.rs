//! Replies that wait for the frame. They leave after it is durable, or say that the outcome is unknown.

use seckill_sale::Refusal;
use seckill_stock::Answer;
use tokio::sync::oneshot;

use crate::Error;
use crate::command::Reply;

/// One reply, ready to leave.
type Ready = Box<dyn FnOnce(bool) + Send>;

/// All replies of one frame.
#[derive(Default)]
pub(crate) struct Replies {
    claims: Vec<(oneshot::Sender<Vec<Answer>>, Vec<Answer>)>,
    others: Vec<Ready>,
}

impl Replies {
    pub(crate) fn claims(&mut self, reply: oneshot::Sender<Vec<Answer>>, answers: Vec<Answer>) {
        self.claims.push((reply, answers));
    }

    /// Keeps a reply. An `Err` leaves as it is; an `Ok` only where the frame is durable.
    pub(crate) fn add<T: Send + 'static>(&mut self, reply: Reply<T>, outcome: Result<T, Error>) {
        self.others.push(Box::new(move |durable| {
            let outcome = if durable {
                outcome
            } else {
                outcome.and(Err(Error::OutcomeUnknown))
            };
            // Whoever asked may have gone away; what was done stays done.
            let _ = reply.send(outcome);
        }));
    }

    pub(crate) fn send(self, durable: bool) {
        for (reply, mut answers) in self.claims {
            if !durable {
                answers
                    .iter_mut()
                    .for_each(|answer| *answer = Err(Refusal::OutcomeUnknown));
            }
            let _ = reply.send(answers);
        }
        for reply in self.others {
            reply(durable);
        }
    }
}
