//! How a script is run: with what every script is told, on which connection, and what is remembered of its answer.

use redis::Value;
use seckill_sale::ActivityId;

use crate::link::Lent;
use crate::script::Script;
use crate::shared::Shared;
use crate::summary::Answer;
use crate::time::Time;
use crate::{Error, keys};

impl Shared {
    /// Epoch of the sale's last reading.
    pub(crate) fn epoch_of(&self, activity: ActivityId) -> Option<u64> {
        self.with_sale(activity, |sale| sale.map(|sale| sale.figures.epoch.get()))
    }

    /// Runs a script on a sale and remembers what its summary says.
    pub(crate) async fn call(&self, script: &Script, activity: ActivityId, own: Vec<Vec<u8>>) -> Result<Answer, Error> {
        self.call_on(script, &keys::of_sale(activity), activity, own).await
    }

    /// The same on these keys.
    pub(crate) async fn call_on(
        &self,
        script: &Script,
        keys: &[String],
        activity: ActivityId,
        own: Vec<Vec<u8>>,
    ) -> Result<Answer, Error> {
        let mut lent = self.link.lend()?;
        self.call_lent(&mut lent, script, keys, activity, own).await
    }

    /// The same on this connection.
    pub(crate) async fn call_lent(
        &self,
        lent: &mut Lent,
        script: &Script,
        keys: &[String],
        activity: ActivityId,
        own: Vec<Vec<u8>>,
    ) -> Result<Answer, Error> {
        let epoch_min = self.epoch_of(activity).unwrap_or(0);
        let asked_at = Time::local();
        let value = self.run_lent(lent, script, keys, epoch_min, own).await?;
        let Some(answer) = Answer::read(value) else {
            tracing::error!(%activity, "a script's answer is not one of ours");
            return Err(Error::OutcomeUnknown);
        };
        self.time.learn(asked_at, answer.now);
        self.remember(activity, &answer);
        Ok(answer)
    }

    /// Runs a script; its answer as it came.
    pub(crate) async fn run(
        &self,
        script: &Script,
        keys: &[String],
        epoch_min: u64,
        own: Vec<Vec<u8>>,
    ) -> Result<Value, Error> {
        let mut lent = self.link.lend()?;
        self.run_lent(&mut lent, script, keys, epoch_min, own).await
    }

    async fn run_lent(
        &self,
        lent: &mut Lent,
        script: &Script,
        keys: &[String],
        epoch_min: u64,
        own: Vec<Vec<u8>>,
    ) -> Result<Value, Error> {
        let mut arguments = vec![self.time.argument(), epoch_min.to_string().into_bytes()];
        arguments.extend(own);
        let ran = script.run(&mut lent.connection, keys, &arguments).await;
        ran.map_err(|error| self.link.failed(lent, &error))
    }
}
