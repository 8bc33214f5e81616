//! How a script is run: with what every script is told, and what is remembered of its answer.

use crate::Error;
use crate::keys::Place;
use crate::script::{OPEN, Script};
use crate::shared::Shared;
use crate::summary::Answer;
use crate::time::Time;
use redis::Value;

impl Shared {
    /// Epoch of the shard's last reading.
    pub(crate) fn epoch_of(&self, place: Place) -> Option<u64> {
        self.with_sale(place.activity, |sale| {
            Some(sale?.shard(place.index())?.figures.epoch.get())
        })
    }

    /// Runs a script on a shard and remembers what its summary says.
    pub(crate) async fn call(&self, script: &Script, place: Place, own: Vec<Vec<u8>>) -> Result<Answer, Error> {
        self.call_on(script, &place.keys(), place, own).await
    }

    /// A step of building a shard.
    pub(crate) async fn call_open(&self, place: Place, own: Vec<Vec<u8>>) -> Result<Answer, Error> {
        self.call_on(&OPEN, &place.keys_and_aside(), place, own).await
    }

    /// As [`Shared::call`], on these keys.
    pub(crate) async fn call_on(
        &self,
        script: &Script,
        keys: &[String],
        place: Place,
        own: Vec<Vec<u8>>,
    ) -> Result<Answer, Error> {
        let epoch_min = self.epoch_of(place).unwrap_or(0);
        let asked_at = Time::local();
        let value = self.run(script, keys, (epoch_min, place), own).await?;
        let Some(answer) = Answer::read(value, place) else {
            tracing::error!(%place, "a script's answer is not one of ours");
            return Err(Error::OutcomeUnknown);
        };
        self.time.learn(asked_at, answer.now);
        self.remember(place, &answer);
        Ok(answer)
    }

    /// Runs a script for a caller who accepts this epoch at least, and takes the sale to be as the place says; its answer as it came.
    pub(crate) async fn run(
        &self,
        script: &Script,
        keys: &[String],
        (epoch_min, place): (u64, Place),
        own: Vec<Vec<u8>>,
    ) -> Result<Value, Error> {
        let created = self.created_at(place.activity).map(|at| at.to_string());
        let fence = format!("{epoch_min} {} {}", place.shards, created.unwrap_or_default()).into_bytes();
        let mut arguments = vec![self.time.argument(), fence];
        arguments.extend(own);
        self.link.script(script, keys, &arguments).await
    }
}
