//! Whether a sale's state can be used, and how one that can't is given up.

use std::time::Duration;

use futures_util::future::join_all;
use redis::{FromRedisValue as _, Value};
use seckill_sale::{ActivityId, Epoch, NotReady, Shards};
use seckill_stock::{Condition, GivenUp};

use crate::Error;
use crate::another::{another, payload_of};
use crate::confirming::{Stand, counted};
use crate::keys::Place;
use crate::sales::Known;
use crate::script::{CONDITION, SEAL};
use crate::shared::Shared;
use crate::summary::{Answer, Outcome};

/// A builder that has done nothing for so long has died.
const BUILDER_SILENT_MAX: Duration = Duration::from_secs(3);

/// What one shard was found to be.
pub(crate) enum Part {
    Absent,
    /// Whole; sound or doubtful.
    Stands(Box<Stand>),
    Broken,
    /// Begun or filled, by a builder who did something last at this moment.
    Begun(i64),
    Split(Shards),
    /// Of another sale that had the number, with this epoch, and so many shards.
    Another(Epoch, Shards),
}

impl Part {
    pub(crate) fn stand(&self) -> Option<&Stand> {
        match self {
            Self::Stands(stand) => Some(stand),
            _ => None,
        }
    }

    fn is_sound(&self) -> bool {
        self.stand().is_some_and(|stand| !stand.is_doubtful)
    }
}

impl Shared {
    /// Asked without the epoch that this node has seen: the ledger knows the right one.
    pub(crate) async fn condition(&self, activity: ActivityId) -> Result<Condition, Error> {
        let known = self.shards_known(activity);
        let mut shards = match known {
            Some(shards) => shards,
            None => self.shards_in_store(activity).await?.unwrap_or(Shards::ONE),
        };
        for _ in 0..2 {
            let parts = self.all_parts(activity, shards).await?;
            let other = parts.iter().find_map(|part| match part {
                Part::Split(other) => Some(*other),
                Part::Another(_, other) => Some(*other).filter(|other| *other != shards),
                _ => None,
            });
            match other {
                Some(other) => shards = other,
                None => return self.judge(activity, shards, &parts).await,
            }
        }
        Ok(Condition::Broken)
    }

    pub(crate) async fn all_parts(&self, activity: ActivityId, shards: Shards) -> Result<Vec<Part>, Error> {
        let looks = Place::all(activity, shards).map(|place| self.part(place));
        join_all(looks).await.into_iter().collect()
    }

    async fn part(&self, place: Place) -> Result<Part, Error> {
        let own = vec![b"condition".to_vec()];
        let value = self.run(&CONDITION, &place.keys(), (0, place), own).await?;
        if let Some((epoch, shards)) = another(&value) {
            self.forget_another(place.activity);
            return Ok(Part::Another(epoch, shards));
        }
        if let Some(since) = building_since(&value) {
            return Ok(Part::Begun(since));
        }
        let answer = Answer::read(value, place).ok_or(Error::OutcomeUnknown)?;
        Ok(match &answer.outcome {
            Outcome::Done(summary, said) => {
                let stand = Stand::read(summary, said).ok_or(Error::OutcomeUnknown)?;
                if !stand.is_doubtful {
                    self.remember(place, &answer);
                }
                Part::Stands(Box::new(stand))
            }
            Outcome::None => Part::Absent,
            Outcome::Split(shards) => Part::Split(*shards),
            Outcome::Preheating
            | Outcome::Filled
            | Outcome::Damaged
            | Outcome::Doubtful
            | Outcome::Grace
            | Outcome::Another
            | Outcome::Unusable(_) => Part::Broken,
        })
    }

    async fn judge(&self, activity: ActivityId, shards: Shards, parts: &[Part]) -> Result<Condition, Error> {
        let others = parts.iter().filter_map(|part| match part {
            Part::Another(epoch, _) => Some(*epoch),
            _ => None,
        });
        if let Some(epoch) = others.max() {
            return Ok(Condition::Another { epoch });
        }
        if parts.iter().all(|part| matches!(part, Part::Absent)) {
            self.forget(activity);
            return Ok(Condition::Absent { may_be_lost: true });
        }
        if parts.iter().all(Part::is_sound) {
            let is_one = !shards.is_split() || self.with_sale(activity, |sale| sale.is_some_and(Known::is_whole));
            let epoch = parts.iter().filter_map(Part::stand).map(Stand::epoch).min();
            // The list alone may be lost: a worker that starts would find nothing to do.
            self.list(activity, shards).await?;
            return Ok(if is_one {
                self.troubles.opened(activity);
                Condition::Sound { epoch }
            } else {
                // Shards of several builds.
                self.shut(activity)
            });
        }
        if let Some(figures) = counted(shards, parts) {
            return Ok(Condition::Doubtful(Box::new(figures)));
        }
        // The last step of a build is anybody's.
        let is_filled = |part: &Part| part.is_sound() || matches!(part, Part::Begun(_));
        if shards.is_split()
            && parts[0].is_sound()
            && parts.iter().all(is_filled)
            && let Ok(epoch @ Some(_)) = self.finish_building(activity, shards).await
        {
            return Ok(Condition::Sound { epoch });
        }
        let begun = parts.iter().filter_map(|part| match part {
            Part::Begun(since) => Some(self.time.now().0.abs_diff(*since)),
            _ => None,
        });
        let is_at_work = |silent_ms| u128::from(silent_ms) <= BUILDER_SILENT_MAX.as_millis();
        Ok(if begun.min().is_some_and(is_at_work) {
            Condition::InHand
        } else {
            self.shut(activity)
        })
    }

    fn shut(&self, activity: ActivityId) -> Condition {
        if self.troubles.shut(activity) {
            tracing::error!(%activity, "a part of a sale's state is lost, broken or doubtful; all of it is shut until it is built anew");
        }
        Condition::Broken
    }

    /// Of several shards all are given up where one cannot be used: units move between them, and only the ledger knows their sum.
    pub(crate) async fn give_up(&self, activity: ActivityId, shards: Shards, epoch: Epoch) -> Result<GivenUp, Error> {
        let may_be_split = shards.is_split() || self.shards_known(activity).is_some_and(Shards::is_split);
        if may_be_split && matches!(self.condition(activity).await?, Condition::Sound { .. }) {
            return Ok(GivenUp::Sound);
        }
        // An emptied server has lost the list, too.
        self.list(activity, shards).await?;
        let builder = self.builder();
        let mut sealed = Vec::new();
        for place in Place::all(activity, shards) {
            let whole = if shards.is_split() { "whole" } else { "" };
            let own = vec![
                epoch.to_string().into_bytes(),
                builder.clone(),
                whole.as_bytes().to_vec(),
            ];
            let value = self.run(&SEAL, &place.keys_and_aside(), (0, place), own).await?;
            let said = Vec::<String>::from_redis_value(value).map_err(|_| Error::OutcomeUnknown)?;
            let has = || said.get(1)?.parse().ok();
            match said.first().map(String::as_str) {
                Some("nothing") => {}
                Some("sealed") => sealed.push(place),
                Some("sound") => return Ok(GivenUp::Sound),
                Some("epoch") => return Ok(GivenUp::Newer(has().ok_or(Error::OutcomeUnknown)?)),
                Some("split") => {
                    tracing::error!(%place, %shards, "the ledger says that a sale has another number of shards than its state has");
                    return Err(Error::NotReady(NotReady::StoreUnsafe));
                }
                _ => return Err(Error::OutcomeUnknown),
            }
        }
        let mut remains = Vec::new();
        for place in sealed {
            remains.extend(self.salvage(place).await?);
        }
        remains.sort_unstable_by_key(|buyer| buyer.sequence);
        Ok(GivenUp::Remains(remains))
    }
}

/// When the builder of a state that is not built yet did something last, in epoch milliseconds.
fn building_since(value: &Value) -> Option<i64> {
    payload_of(value, &["preheating", "building", "filled"])?
        .first()?
        .parse()
        .ok()
}
