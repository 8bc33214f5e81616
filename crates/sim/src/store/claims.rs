//! The store's claims: a batch that the engine forms when it begins with it, or, for faults that need one in hand, before.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use seckill_sale::{Claim, Quantity, Refusal, RequestKey, Status, Terms, Ticket, UserId};
use seckill_stock::{Answer, Gathering, Glance, Reserved, Stock};

use super::Store;
use crate::fault::Fault;
use crate::weather::Course;

/// Faults that strike a batch before the engine has it.
const IN_HAND: [Fault; 3] = [Fault::EarlyReply, Fault::KeyForgotten, Fault::GhostBuyer];

impl Store {
    /// As the engine does it: what gathers until the sequencer begins is one batch.
    pub(super) async fn claim_when_begun(&self, gathering: Gathering) -> Vec<Answer> {
        if IN_HAND.iter().any(|fault| self.weather.has(*fault)) {
            return self.claim_in_hand(gathering.take()).await;
        }
        let course = self.weather.store_course();
        let mut answers = self.engine.claim_gathered(gathering).await;
        self.weather.pause().await;
        if 2 <= answers.len() && self.weather.strikes(Fault::AnswersSwapped, 1) {
            answers.rotate_left(1);
        }
        arrived(course, answers)
    }

    pub(super) async fn claim_in_hand(&self, mut batch: Vec<Claim>) -> Vec<Answer> {
        let size = batch.len();
        if size == 1 && self.weather.has(Fault::EarlyReply) {
            return self.claim_early(batch).await;
        }
        if size != 0 && self.weather.strikes(Fault::KeyForgotten, 3) {
            batch[0].key = RequestKey([0xEE; 16]);
        }
        if size != 0 && self.weather.strikes(Fault::GhostBuyer, 3) {
            let ghost = UserId::new(&format!("{}-ghost", batch[0].user)).expect("a short name");
            let second = Claim {
                user: ghost,
                ..batch[0].clone()
            };
            batch.push(second);
        }
        let course = self.weather.store_course();
        let mut answers = self.engine.claim(batch).await;
        answers.truncate(size);
        self.weather.pause().await;
        arrived(course, answers)
    }

    /// Hands the claims over and answers the first of them before the journal has it, where it will surely be admitted.
    async fn claim_early(&self, batch: Vec<Claim>) -> Vec<Answer> {
        let first = batch[0].clone();
        let figures = self.engine.figures(first.activity).await.ok().flatten();
        let now = self.engine.now();
        let sells = |terms: &Terms| terms.status == Status::Running && terms.window.contains(now);
        let sure = self.terms.lock().get(&first.activity).is_some_and(sells)
            && first.quantity == Quantity::ONE
            && self.engine.glance(first.activity, &first.user) == Glance::Stranger;
        let mut work = pin!(self.engine.claim(batch));
        let mut answers = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
        if let (Poll::Pending, Some(figures), true) = (&answers, figures, sure)
            && first.quantity.get() + 2 <= figures.stock_left
            && self.weather.strikes(Fault::EarlyReply, 1)
        {
            let ticket = Ticket {
                activity: first.activity,
                epoch: figures.epoch,
                sequence: figures.next_sequence,
            };
            return vec![Ok(Reserved {
                ticket,
                accepted_at: self.engine.now(),
                replayed: false,
            })];
        }
        if answers.is_pending() {
            answers = Poll::Ready(work.await);
        }
        match answers {
            Poll::Ready(answers) => answers,
            Poll::Pending => Vec::new(),
        }
    }
}

/// What the callers hear.
fn arrived(course: Course, mut answers: Vec<Answer>) -> Vec<Answer> {
    if course == Course::ReplyLost {
        answers.fill(Err(Refusal::OutcomeUnknown));
    }
    answers
}
