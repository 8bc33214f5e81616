//! Whether a sale's state can be used, and how one that can't is confirmed or given up.

use std::time::Duration;

use futures_util::future::join_all;
use redis::{FromRedisValue as _, Value};
use seckill_sale::{ActivityId, Epoch, Figures, NotReady, Shards};
use seckill_stock::{Condition, Confirmed, GivenUp};

use crate::Error;
use crate::keys::{self, Place};
use crate::sales::Known;
use crate::script::{CONFIRM, LOOK, SEAL};
use crate::shared::Shared;
use crate::summary::{Answer, Outcome};

/// A builder that has done nothing for so long has died.
const BUILDER_SILENT_MAX: Duration = Duration::from_secs(3);

/// What one shard was found to be.
enum Part {
    Absent,
    Sound(Epoch),
    Doubtful(Figures),
    Broken,
    /// Begun or filled, by a builder who did something last at this moment.
    Begun(i64),
    Split(Shards),
}

impl Shared {
    /// Asked without the epoch that this node has seen: the ledger knows the right one.
    pub(crate) async fn condition(&self, activity: ActivityId) -> Result<Condition, Error> {
        let mut shards = self.shards(activity).await?;
        for _ in 0..2 {
            let looks = Place::all(activity, shards).map(|place| self.part(place));
            let parts: Vec<Part> = join_all(looks).await.into_iter().collect::<Result<_, _>>()?;
            let other = parts.iter().find_map(|part| match part {
                Part::Split(other) => Some(*other),
                _ => None,
            });
            match other {
                Some(other) => shards = other,
                None => return self.judge(activity, shards, &parts).await,
            }
        }
        Ok(Condition::Broken)
    }

    async fn part(&self, place: Place) -> Result<Part, Error> {
        let own = vec![b"condition".to_vec()];
        let value = self.run(&LOOK, &place.keys(), (0, place.shards), own).await?;
        if let Some(since) = building_since(&value) {
            return Ok(Part::Begun(since));
        }
        let answer = Answer::read(value, place).ok_or(Error::OutcomeUnknown)?;
        Ok(match &answer.outcome {
            Outcome::Done(summary, said) if said.first().is_some_and(|said| said == "doubtful") => {
                Part::Doubtful(summary.figures)
            }
            Outcome::Done(summary, _) => {
                let epoch = summary.figures.epoch;
                self.remember(place, &answer);
                Part::Sound(epoch)
            }
            Outcome::None => Part::Absent,
            Outcome::Split(shards) => Part::Split(*shards),
            Outcome::Filled | Outcome::Damaged | Outcome::Doubtful | Outcome::Unusable(_) => Part::Broken,
        })
    }

    async fn judge(&self, activity: ActivityId, shards: Shards, parts: &[Part]) -> Result<Condition, Error> {
        if parts.iter().all(|part| matches!(part, Part::Absent)) {
            self.forget(activity);
            return Ok(Condition::Absent { may_be_lost: true });
        }
        let sound = parts.iter().map(|part| match part {
            Part::Sound(epoch) => Some(*epoch),
            _ => None,
        });
        if let Some(epochs) = sound.collect::<Option<Vec<_>>>() {
            let is_one = !shards.is_split() || self.with_sale(activity, |sale| sale.is_some_and(Known::is_whole));
            let epoch = epochs.into_iter().min();
            return Ok(if is_one {
                Condition::Sound { epoch }
            } else {
                // Shards of several builds.
                self.shut(activity)
            });
        }
        if let [Part::Doubtful(figures)] = parts {
            return Ok(Condition::Doubtful(Box::new(*figures)));
        }
        // The last step of a build is anybody's.
        let is_filled = |part: &Part| matches!(part, Part::Sound(_) | Part::Begun(_));
        if shards.is_split()
            && matches!(parts[0], Part::Sound(_))
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
        tracing::error!(%activity, "a part of a sale's state is lost, broken or doubtful; all of it is shut until it is built anew");
        Condition::Broken
    }

    pub(crate) async fn confirm(&self, confirmed: Confirmed) -> Result<bool, Error> {
        let shards = self.shards(confirmed.activity).await?;
        for place in Place::all(confirmed.activity, shards) {
            if !self.confirm_at(place, &confirmed).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn confirm_at(&self, place: Place, confirmed: &Confirmed) -> Result<bool, Error> {
        let next_nth = place.shards.first_nth(place.shard, confirmed.next_sequence);
        let mut arguments = vec![confirmed.epoch.get().to_string(), next_nth.to_string()];
        match confirmed.counted {
            // Counted were all shards together; which units are in which, nobody knows.
            Some(_) if place.shards.is_split() => return Ok(false),
            Some(counted) => {
                arguments.extend([counted.revision, counted.left, counted.applied_movement].map(|n| n.to_string()));
            }
            None => arguments.push(String::new()),
        }
        let arguments = arguments.into_iter().map(String::into_bytes).collect();
        let value = self.run(&CONFIRM, &place.keys(), (0, place.shards), arguments).await?;
        let answer = Answer::read(value, place).ok_or(Error::OutcomeUnknown)?;
        let is_confirmed = match &answer.outcome {
            Outcome::Done(_, said) => said.first().is_some_and(|said| said == "confirmed"),
            _ => return answer.done().map(|_| false),
        };
        if is_confirmed {
            self.remember(place, &answer);
        }
        Ok(is_confirmed)
    }

    /// Of several shards all are given up where one cannot be used: units move between them, and only the ledger knows their sum.
    pub(crate) async fn give_up(&self, activity: ActivityId, shards: Shards, epoch: Epoch) -> Result<GivenUp, Error> {
        let may_be_split = shards.is_split() || self.shards_known(activity).is_some_and(Shards::is_split);
        if may_be_split && matches!(self.condition(activity).await?, Condition::Sound { .. }) {
            return Ok(GivenUp::Sound);
        }
        // An emptied server has lost the list, too.
        let mut list = redis::cmd("SADD");
        list.arg(keys::SALES).arg(keys::listed(activity, shards));
        let _listed: u64 = self.link.command(&list).await?;
        let builder = self.builder();
        let mut sealed = Vec::new();
        for place in Place::all(activity, shards) {
            let whole = if shards.is_split() { "whole" } else { "" };
            let own = vec![
                epoch.to_string().into_bytes(),
                builder.clone(),
                whole.as_bytes().to_vec(),
            ];
            let value = self.run(&SEAL, &place.keys_and_aside(), (0, shards), own).await?;
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
    let Value::Array(parts) = value else { return None };
    let text = |value: &Value| String::from_redis_value(value.clone()).ok();
    if !matches!(text(parts.first()?)?.as_str(), "building" | "filled") {
        return None;
    }
    let Value::Array(payload) = parts.get(3)? else {
        return None;
    };
    text(payload.first()?)?.parse().ok()
}
