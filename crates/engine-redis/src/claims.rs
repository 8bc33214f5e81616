//! Claims: a batch is parted by sale, each part is one call of `claim.lua`, asked once more where its reply was lost.

use std::time::Duration;

use seckill_sale::{ActivityId, Claim, EpochMs, Refusal, Ticket};
use seckill_stock::Reserved;

use crate::buyer::{key_text, read_buyer};
use crate::link::Lent;
use crate::script::CLAIM;
use crate::shared::Shared;
use crate::summary::{Answer, Summary};
use crate::{Error, keys};

/// How long a claim whose reply was lost waits for the link to come back before its outcome counts as unknown.
const ASK_AGAIN_WITHIN: Duration = Duration::from_millis(40);
/// Claims that one script call decides.
const CALL_SIZE_MAX: usize = 256;

impl Shared {
    /// Decides a batch; answers stand in the order of the claims.
    pub(crate) async fn claim_all(&self, batch: &[Claim]) -> Vec<seckill_stock::Answer> {
        let mut answers: Vec<_> = batch.iter().map(|_| Err(Refusal::OutcomeUnknown)).collect();
        for part in parts(batch) {
            let activity = batch[part[0]].activity;
            let claims: Vec<_> = part.iter().map(|&place| &batch[place]).collect();
            let decided = self.claim_part(activity, &claims).await;
            for (place, answer) in part.into_iter().zip(decided) {
                answers[place] = answer;
            }
        }
        answers
    }

    async fn claim_part(&self, activity: ActivityId, claims: &[&Claim]) -> Vec<seckill_stock::Answer> {
        match self.ask_claims(activity, claims).await {
            Ok((mut lent, now, summary, payload)) => {
                let read = |(claim, text): (&&Claim, String)| read_answer(claim, &text, now, &summary);
                let mut answers: Vec<_> = claims.iter().zip(payload).map(read).collect();
                self.remembered.note(activity, summary.figures.epoch, claims, &answers);
                self.only_durable(&mut lent, activity, &mut answers).await;
                answers
            }
            Err(error) => claims
                .iter()
                .map(|_| Err(seckill_stock::Error::from(error).into()))
                .collect(),
        }
    }

    async fn ask_claims(
        &self,
        activity: ActivityId,
        claims: &[&Claim],
    ) -> Result<(Lent, EpochMs, Summary, Vec<String>), Error> {
        let mut lent = self.link.lend()?;
        let mut asked = self.ask_on(&mut lent, activity, claims).await;
        if matches!(asked, Err(Error::OutcomeUnknown)) && self.link.came_back(ASK_AGAIN_WITHIN).await {
            lent = self.link.lend().map_err(|_| Error::OutcomeUnknown)?;
            asked = self.ask_on(&mut lent, activity, claims).await;
            // What the second try does not reach, the first may have done.
            if matches!(asked, Err(Error::Unavailable)) {
                asked = Err(Error::OutcomeUnknown);
            }
        }
        let answer = asked?;
        let now = answer.now;
        let (summary, payload) = answer.done()?;
        if payload.len() == claims.len() {
            Ok((lent, now, summary, payload))
        } else {
            Err(Error::OutcomeUnknown)
        }
    }

    async fn ask_on(&self, lent: &mut Lent, activity: ActivityId, claims: &[&Claim]) -> Result<Answer, Error> {
        let arguments = self.claim_arguments(activity, claims);
        let keys = keys::of_sale(activity);
        self.call_lent(lent, &CLAIM, &keys, activity, arguments).await
    }

    fn claim_arguments(&self, activity: ActivityId, claims: &[&Claim]) -> Vec<Vec<u8>> {
        let mut arguments = Vec::with_capacity(1 + 4 * claims.len());
        arguments.push(self.room(activity).to_string().into_bytes());
        for claim in claims {
            arguments.push(claim.user.as_str().as_bytes().to_vec());
            arguments.push(key_text(claim.key).into_bytes());
            arguments.push(claim.quantity.to_string().into_bytes());
            arguments.push(claim.request_id.as_str().as_bytes().to_vec());
        }
        arguments
    }
}

/// Places of the claims of each sale, in order, at most a call's size each.
fn parts(batch: &[Claim]) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for (place, claim) in batch.iter().enumerate() {
        let open = parts
            .iter_mut()
            .rev()
            .find(|part| batch[part[0]].activity == claim.activity)
            .filter(|part| part.len() < CALL_SIZE_MAX);
        match open {
            Some(part) => part.push(place),
            None => parts.push(vec![place]),
        }
    }
    parts
}

/// Reads one text of the payload of `claim.lua`. What is not one of ours is unknown.
fn read_answer(claim: &Claim, text: &str, now: EpochMs, summary: &Summary) -> seckill_stock::Answer {
    let unknown = Refusal::OutcomeUnknown;
    let (Some(kind), Some(rest)) = (text.get(..1), text.get(1..)) else {
        return Err(unknown);
    };
    let buyer = || read_buyer(claim.activity, claim.user.clone(), rest);
    match kind {
        "+" => Ok(Reserved {
            ticket: Ticket {
                activity: claim.activity,
                epoch: summary.figures.epoch,
                sequence: rest.parse().map_err(|_| unknown)?,
            },
            accepted_at: now,
            replayed: false,
        }),
        "=" => buyer().ok_or(unknown).map(|buyer| Reserved {
            ticket: buyer.ticket,
            accepted_at: buyer.accepted_at,
            replayed: true,
        }),
        "t" => Err(buyer().map_or(unknown, |buyer| Refusal::AlreadyTook(Box::new(buyer)))),
        "k" => Err(Refusal::KeyReused),
        "p" => Err(Refusal::Paused {
            resumes_at: rest.parse().ok().map(EpochMs),
        }),
        "n" => Err(Refusal::NotStarted {
            starts_at: summary.starts_at,
        }),
        "e" => Err(Refusal::Ended),
        "l" => Err(Refusal::QuantityAboveLimit),
        "s" => Err(Refusal::SoldOut),
        "b" => Err(Refusal::BacklogFull),
        _ => Err(unknown),
    }
}
