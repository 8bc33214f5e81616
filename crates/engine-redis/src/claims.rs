//! Claims: a batch is parted by sale and shard, each part is one call of `claim.lua`, asked once more where its reply was lost. Calls of
//! different shards run at once; of one shard a node has one under way, while what comes for it gathers.

use std::time::Duration;

use futures_util::future::join_all;
use seckill_sale::{ActivityId, Claim, EpochMs, NotReady, Refusal, Shards};
use seckill_stock::{Answer, Gathering};
use tokio::sync::OwnedMutexGuard;

use crate::Error;
use crate::claim_text::{self, Payload};
use crate::keys::Place;
use crate::script::CLAIM;
use crate::shared::Shared;
use crate::summary::{Outcome, Summary};

/// How long a claim whose reply was lost waits for the link to come back before its outcome counts as unknown.
const ASK_AGAIN_WITHIN: Duration = Duration::from_millis(40);
/// Claims that one script call decides.
const CALL_SIZE_MAX: usize = 256;

/// Who may call a shard.
enum Turn {
    /// Whoever comes.
    Anybody,
    /// One call of this node at a time. The part of the batch whose turn it is already brings that along.
    InLine(Option<OwnedMutexGuard<()>>),
}

/// What became of a claim.
enum Decided {
    Answer(Answer),
    /// Nothing: the sale has another number of shards than this node thought.
    Nothing,
}

impl Decided {
    fn answer(self) -> Answer {
        match self {
            Self::Answer(answer) => answer,
            Self::Nothing => Err(Refusal::Busy),
        }
    }
}

impl Shared {
    /// Decides a batch; answers stand in the order of the claims.
    pub(crate) async fn claim_all(&self, batch: &[Claim]) -> Vec<Answer> {
        self.claim_parts(batch, |_| Turn::Anybody).await
    }

    /// Decides a batch that gathers until it is the turn of its oldest claim's shard.
    pub(crate) async fn claim_gathered(&self, gathering: Gathering) -> Vec<Answer> {
        let first = gathering.oldest().map(|(activity, user)| self.place(activity, &user));
        let mut held = match first {
            Some(place) => Some((place, self.lane(place).lock_owned().await)),
            None => None,
        };
        let batch = gathering.take();
        let turn = move |place: Place| Turn::InLine(held.take_if(|(mine, _)| *mine == place).map(|(_, turn)| turn));
        self.claim_parts(&batch, turn).await
    }

    async fn claim_parts(&self, batch: &[Claim], turn: impl FnMut(Place) -> Turn) -> Vec<Answer> {
        let mut answers = self.claim_once(batch, turn).await;
        let moved: Vec<usize> = (0..batch.len())
            .filter(|&at| matches!(answers[at], Decided::Nothing))
            .collect();
        if !moved.is_empty() {
            let again: Vec<_> = moved.iter().map(|&at| batch[at].clone()).collect();
            for (at, answer) in moved.into_iter().zip(self.claim_once(&again, |_| Turn::Anybody).await) {
                answers[at] = answer;
            }
        }
        answers.into_iter().map(Decided::answer).collect()
    }

    async fn claim_once(&self, batch: &[Claim], mut turn: impl FnMut(Place) -> Turn) -> Vec<Decided> {
        let mut answers: Vec<_> = batch.iter().map(|_| Decided::Nothing).collect();
        let parts = self.parts(batch);
        let mut begun = Vec::with_capacity(parts.len());
        for (place, part) in &parts {
            let claims: Vec<_> = part.iter().map(|&at| &batch[at]).collect();
            begun.push(self.claim_part(*place, claims, turn(*place)));
        }
        // A turn that no part of the batch needs is over.
        drop(turn);
        for ((place, part), decided) in parts.iter().zip(join_all(begun).await) {
            let shards = self.shards_known(place.activity).unwrap_or(place.shards);
            let has_moved = shards != place.shards && decided.iter().all(|answer| *answer == Err(Refusal::Busy));
            for (&at, answer) in part.iter().zip(decided) {
                if !has_moved {
                    answers[at] = Decided::Answer(answer);
                }
            }
        }
        answers
    }

    /// The claims of each shard, in order.
    fn parts(&self, batch: &[Claim]) -> Vec<(Place, Vec<usize>)> {
        let mut parts: Vec<(Place, Vec<usize>)> = Vec::new();
        for (at, claim) in batch.iter().enumerate() {
            let place = self.place(claim.activity, &claim.user);
            match parts.iter_mut().find(|(known, _)| *known == place) {
                Some((_, part)) => part.push(at),
                None => parts.push((place, vec![at])),
            }
        }
        parts
    }

    /// Where a buyer belongs, as far as this node knows the sale: the script tells where it is otherwise.
    fn place(&self, activity: ActivityId, user: &seckill_sale::UserId) -> Place {
        let shards = self.shards_known(activity).unwrap_or(Shards::ONE);
        Place::of_user(activity, shards, user)
    }

    async fn claim_part(&self, place: Place, claims: Vec<&Claim>, turn: Turn) -> Vec<Answer> {
        let _turn = match turn {
            Turn::Anybody => None,
            Turn::InLine(Some(held)) => Some(held),
            Turn::InLine(None) => Some(self.lane(place).lock_owned().await),
        };
        let mut answers = Vec::with_capacity(claims.len());
        for claims in claims.chunks(CALL_SIZE_MAX) {
            let mut decided = match self.see_whole(place).await {
                Ok(()) => self.decide(place, claims).await,
                Err(error) => same(claims, nothing_done(error)),
            };
            if place.shards.is_split() {
                self.sell_elsewhere(place, claims, &mut decided).await;
            }
            answers.append(&mut decided);
        }
        answers
    }

    /// Has a shard decide claims, at most a call's size. An admission counts once there are as many copies of it as the settings ask for.
    pub(crate) async fn decide(&self, place: Place, claims: &[&Claim]) -> Vec<Answer> {
        let line = self.line(&place.buyers());
        match self.ask(place, claims).await {
            Ok((now, summary, payload)) => {
                let mut next = payload.first;
                let texts = claims.iter().zip(payload.lines());
                let mut answers: Vec<_> = texts
                    .map(|(claim, text)| claim_text::read_answer(place, claim, text, &mut next, now, &summary))
                    .collect();
                if !self.is_of_another(place.activity, summary.created_at) {
                    self.remembered.note(place, &summary.figures, claims, &answers);
                    self.remembered.note_created(place, summary.created_at);
                }
                self.only_durable(line, place, &mut answers).await;
                answers
            }
            Err(Error::NotReady(NotReady::NotPreheated)) if place.shards.is_split() => {
                // Nothing is there, or this shard is lost: the others tell.
                let looked = self.look(place.activity).await;
                let error = match looked {
                    Ok(None) => Error::NotReady(NotReady::NotPreheated),
                    Ok(Some(_)) => Error::Unavailable,
                    Err(error) => nothing_done(error),
                };
                same(claims, error)
            }
            Err(error) => same(claims, error),
        }
    }

    async fn ask(&self, place: Place, claims: &[&Claim]) -> Result<(EpochMs, Summary, Payload), Error> {
        let asks = || self.call(&CLAIM, place, claim_text::arguments(self.room(place), claims));
        let mut asked = asks().await;
        let is_unknown = matches!(asked, Err(Error::OutcomeUnknown));
        if is_unknown && self.link.came_back(&place.buyers(), ASK_AGAIN_WITHIN).await {
            asked = asks().await;
            // What the second try does not reach, the first may have done.
            if matches!(asked, Err(Error::Unavailable)) {
                asked = Err(Error::OutcomeUnknown);
            }
        }
        let answer = asked?;
        let now = answer.now;
        if matches!(answer.outcome, Outcome::Preheating) {
            return Err(Error::NotReady(NotReady::NotPreheated));
        }
        let (summary, payload) = answer.done()?;
        let payload = Payload::read(payload, claims.len()).ok_or(Error::OutcomeUnknown)?;
        Ok((now, summary, payload))
    }
}

/// What a lost answer of a look means for claims.
const fn nothing_done(error: Error) -> Error {
    match error {
        Error::OutcomeUnknown => Error::Unavailable,
        error => error,
    }
}

fn same(claims: &[&Claim], error: Error) -> Vec<Answer> {
    let refusal = Refusal::from(seckill_stock::Error::from(error));
    claims.iter().map(|_| Err(refusal.clone())).collect()
}
