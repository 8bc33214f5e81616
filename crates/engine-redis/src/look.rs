//! Reads all shards of a sale: of several each by a call of its own, all at once.

use std::time::Instant;

use futures_util::future::join_all;
use seckill_sale::{ActivityId, NotReady, Shards, UserId};

use crate::Error;
use crate::keys::Place;
use crate::reading::Reading;
use crate::script::{LOOK, Script};
use crate::shared::Shared;
use crate::summary::{Answer, Outcome, Summary};

/// Readings of a sale whose units move between shards all the time before it is given up.
const READINGS_MAX: usize = 8;

/// What a look at all shards found.
pub(crate) enum Found {
    /// No state in any.
    Nothing,
    /// All of them can be used.
    Whole(Reading),
    /// The first one stands, and the others wait for their last step.
    HalfBuilt,
    /// The sale has another number of shards.
    Split(Shards),
}

impl Shared {
    /// The number of a sale's shards. Asks the store where this node does not know; of a sale without state it is one.
    pub(crate) async fn shards(&self, activity: ActivityId) -> Result<Shards, Error> {
        if let Some(shards) = self.shards_known(activity) {
            return Ok(shards);
        }
        self.shards_in_store(activity)
            .await?
            .ok_or(Error::NotReady(NotReady::Recovering))
    }

    /// The number of a sale's shards by its state; none where that is one of another sale.
    pub(crate) async fn shards_in_store(&self, activity: ActivityId) -> Result<Option<Shards>, Error> {
        let first = Place::whole(activity);
        match self.call(&LOOK, first, vec![b"summary".to_vec()]).await?.outcome {
            Outcome::Another => Ok(None),
            Outcome::Split(shards) => Ok(Some(shards)),
            // The first shard alone may be lost.
            Outcome::None => {
                let shards = self.listed().await?.shards(activity);
                if shards.is_split() {
                    self.in_sale(activity, shards, |_| ());
                }
                Ok(Some(shards))
            }
            _ => Ok(Some(Shards::ONE)),
        }
    }

    /// A buyer's record in a state that can be used: none there, and where there never was a state, means that he has no ticket. Else nobody
    /// can say.
    pub(crate) async fn see_buyer(&self, place: Place, user: &UserId) -> Result<Option<String>, Error> {
        let is_known = self.with_sale(place.activity, |sale| sale.is_some());
        let own = vec![b"buyer".to_vec(), user.as_str().as_bytes().to_vec()];
        match self.call(&LOOK, place, own).await? {
            Answer {
                outcome: Outcome::None, ..
            } if !is_known => Ok(None),
            answer => {
                let (_, said) = answer.done()?;
                Ok(said.into_iter().next().filter(|record| !record.is_empty()))
            }
        }
    }

    /// Runs a script on every shard of a sale at once; the answers stand in their order.
    pub(crate) async fn call_all(
        &self,
        script: &Script,
        activity: ActivityId,
        shards: Shards,
        own: &[Vec<u8>],
    ) -> Result<Vec<Answer>, Error> {
        let calls = Place::all(activity, shards).map(|place| self.call(script, place, own.to_vec()));
        join_all(calls).await.into_iter().collect()
    }

    /// The shards of a sale, read one after another; none where it has no state.
    pub(crate) async fn look(&self, activity: ActivityId) -> Result<Option<Reading>, Error> {
        let mut shards = self.shards_known(activity).unwrap_or(Shards::ONE);
        for _ in 0..3 {
            match self.look_at(activity, shards).await? {
                Found::Nothing => return Ok(None),
                Found::Whole(reading) => return Ok(Some(reading)),
                // Its builder may be gone: the last step is anybody's.
                Found::HalfBuilt => {
                    let finished = self.finish_building(activity, shards).await?;
                    finished.ok_or(Error::NotReady(NotReady::Recovering))?;
                }
                Found::Split(right) => shards = right,
            }
        }
        Err(Error::Unavailable)
    }

    /// As [`Shared::look`], of a sale with so many shards; errors name a shard that cannot be used.
    pub(crate) async fn look_at(&self, activity: ActivityId, shards: Shards) -> Result<Found, Error> {
        let asked_at = Instant::now();
        let answers = self.call_all(&LOOK, activity, shards, &[b"summary".to_vec()]).await?;
        let answered_at = Instant::now();
        if answers.iter().all(|answer| matches!(answer.outcome, Outcome::None)) {
            self.forget(activity);
            return Ok(Found::Nothing);
        }
        if is_first_build(&answers) {
            return Err(Error::NotReady(NotReady::NotPreheated));
        }
        let (mut whole, mut filled): (Vec<Summary>, usize) = (Vec::new(), 0);
        let mut reasons = Vec::new();
        for answer in answers {
            match answer.outcome {
                Outcome::Done(summary, _) => whole.push(*summary),
                Outcome::Filled => filled += 1,
                Outcome::Split(right) => return Ok(Found::Split(right)),
                // Whoever schedules heals it.
                Outcome::None
                | Outcome::Preheating
                | Outcome::Damaged
                | Outcome::Doubtful
                | Outcome::Grace
                | Outcome::Another => {
                    reasons.push(NotReady::Recovering);
                }
                Outcome::Unusable(reason) => reasons.push(reason),
            }
        }
        if let Some(&first) = reasons.first() {
            // What mends itself is said only where nothing else is wrong.
            let is_lost = reasons.contains(&NotReady::StoreUnsafe);
            return Err(Error::NotReady(if is_lost { NotReady::StoreUnsafe } else { first }));
        }
        if 0 < filled {
            return Ok(Found::HalfBuilt);
        }
        if whole.iter().any(|shard| shard.builder != whole[0].builder) {
            tracing::error!(%activity, "the shards of a sale belong to several builds of it; nobody is admitted to it");
            return Err(Error::NotReady(NotReady::StoreUnsafe));
        }
        let reading = Reading {
            asked_at,
            answered_at,
            shards: whole,
        };
        Ok(Found::Whole(reading))
    }

    /// The shards of a sale while no unit moves between them, so that their sums are exact; none where it has no state.
    pub(crate) async fn look_exactly(&self, activity: ActivityId) -> Result<Option<Reading>, Error> {
        // However old the last reading is: no unit moved since, or it proves nothing and one more does.
        let mut earlier = self.with_sale(activity, |sale| sale?.reading().cloned());
        for _ in 0..READINGS_MAX {
            let Some(reading) = self.look(activity).await? else {
                return Ok(None);
            };
            let still = |earlier: &Reading| reading.stood_still_since(earlier);
            if reading.shards.len() == 1 {
                return Ok(Some(reading));
            }
            let is_exact = earlier.as_ref().is_some_and(still);
            self.compare(activity, reading.clone());
            if is_exact {
                return Ok(Some(reading));
            }
            self.finish_all(activity, &reading).await?;
            earlier = Some(reading);
        }
        Err(Error::Unavailable)
    }

    /// Refuses a sale of several shards of which one cannot be used, as far as this node knows; it looks again before it says so.
    pub(crate) async fn see_whole(&self, place: Place) -> Result<(), Error> {
        let is_whole = || self.with_sale(place.activity, |sale| sale.is_some_and(|sale| sale.is_whole()));
        if !place.shards.is_split() || is_whole() {
            return Ok(());
        }
        let looked = self.look(place.activity).await?;
        looked.map(|_| ()).ok_or(Error::NotReady(NotReady::NotPreheated))
    }

    /// Remembers a reading of several shards; gives the units that there were at the most a moment ago, where it tells.
    pub(crate) fn compare(&self, activity: ActivityId, reading: Reading) -> Option<u64> {
        let shards = Shards::new(reading.shards.len() as u64)
            .ok()
            .filter(|shards| shards.is_split())?;
        self.in_sale(activity, shards, |sale| sale.compare(reading))
    }
}

/// Whether a sale is being built of which nothing was lost: whoever asks hears that it is not preheated yet.
fn is_first_build(answers: &[Answer]) -> bool {
    let is_begun = |answer: &Answer| matches!(answer.outcome, Outcome::Preheating);
    let may_follow = |answer: &Answer| matches!(answer.outcome, Outcome::None | Outcome::Filled);
    answers.iter().any(is_begun) && answers.iter().all(|answer| is_begun(answer) || may_follow(answer))
}
