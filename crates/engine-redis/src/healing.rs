//! Whether a sale's state can be used, and how one that can't is confirmed or given up.

use std::time::Duration;

use redis::{FromRedisValue as _, Value};
use seckill_sale::{ActivityId, Epoch};
use seckill_stock::{Condition, Confirmed, GivenUp};

use crate::script::{CONFIRM, LOOK, SEAL};
use crate::shared::Shared;
use crate::summary::{Answer, Outcome};
use crate::{Error, keys, salvage};

/// A builder that has done nothing for so long has died.
const BUILDER_SILENT_MAX: Duration = Duration::from_secs(3);

impl Shared {
    /// Asked without the epoch that this node has seen: the ledger knows the right one.
    pub(crate) async fn condition(&self, activity: ActivityId) -> Result<Condition, Error> {
        let own = vec![b"condition".to_vec()];
        let value = self.run(&LOOK, &keys::of_sale(activity), 0, own).await?;
        if let Some(since) = building_since(&value) {
            let silent_ms = self.time.now().0.abs_diff(since);
            let is_silent = BUILDER_SILENT_MAX.as_millis() < u128::from(silent_ms);
            return Ok(if is_silent {
                Condition::Broken
            } else {
                Condition::InHand
            });
        }
        let answer = Answer::read(value).ok_or(Error::OutcomeUnknown)?;
        Ok(match &answer.outcome {
            Outcome::Done(summary, said) if said.first().is_some_and(|said| said == "doubtful") => {
                Condition::Doubtful(Box::new(summary.figures))
            }
            Outcome::Done(summary, _) => {
                let epoch = Some(summary.figures.epoch);
                self.remember(activity, &answer);
                Condition::Sound { epoch }
            }
            Outcome::None => {
                self.forget(activity);
                Condition::Absent { may_be_lost: true }
            }
            Outcome::Unusable(_) => Condition::Broken,
        })
    }

    pub(crate) async fn confirm(&self, confirmed: Confirmed) -> Result<bool, Error> {
        let mut arguments = vec![confirmed.epoch.get().to_string(), confirmed.next_sequence.to_string()];
        match confirmed.counted {
            Some(counted) => {
                arguments.extend([counted.revision, counted.left, counted.applied_movement].map(|n| n.to_string()));
            }
            None => arguments.push(String::new()),
        }
        let arguments = arguments.into_iter().map(String::into_bytes).collect();
        let value = self
            .run(&CONFIRM, &keys::of_sale(confirmed.activity), 0, arguments)
            .await?;
        let answer = Answer::read(value).ok_or(Error::OutcomeUnknown)?;
        let is_confirmed = match &answer.outcome {
            Outcome::Done(_, said) => said.first().is_some_and(|said| said == "confirmed"),
            _ => return answer.done().map(|_| false),
        };
        if is_confirmed {
            self.remember(confirmed.activity, &answer);
        }
        Ok(is_confirmed)
    }

    pub(crate) async fn give_up(&self, activity: ActivityId, epoch: Epoch) -> Result<GivenUp, Error> {
        // An emptied server has lost the list, too.
        let mut list = redis::cmd("SADD");
        list.arg(keys::SALES).arg(activity.get());
        let _listed: u64 = self.link.command(&list).await?;
        let own = vec![epoch.to_string().into_bytes(), self.builder()];
        let value = self.run(&SEAL, &salvage::with_aside(activity), 0, own).await?;
        let said = Vec::<String>::from_redis_value(value).map_err(|_| Error::OutcomeUnknown)?;
        let has = || said.get(1)?.parse().ok();
        match said.first().map(String::as_str) {
            Some("nothing") => Ok(GivenUp::Remains(Vec::new())),
            Some("sealed") => Ok(GivenUp::Remains(self.salvage(activity).await?)),
            Some("sound") => Ok(GivenUp::Sound),
            Some("epoch") => Ok(GivenUp::Newer(has().ok_or(Error::OutcomeUnknown)?)),
            _ => Err(Error::OutcomeUnknown),
        }
    }
}

/// When the builder of a state that is not built yet did something last, in epoch milliseconds.
fn building_since(value: &Value) -> Option<i64> {
    let Value::Array(parts) = value else { return None };
    let text = |value: &Value| String::from_redis_value(value.clone()).ok();
    if text(parts.first()?)? != "building" {
        return None;
    }
    let Value::Array(payload) = parts.get(3)? else {
        return None;
    };
    text(payload.first()?)?.parse().ok()
}
