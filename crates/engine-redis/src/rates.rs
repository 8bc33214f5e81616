//! Rates that all nodes count together. Each has a key of its own, and so a slot of its own: a cluster spreads them.

use redis::from_redis_value;
use seckill_sale::SharedRate;

use crate::Error;
use crate::keys;
use crate::script::RATE;
use crate::shared::Shared;

impl Shared {
    /// Takes a permit; milliseconds until the next one where there is none.
    pub(crate) async fn take_of_rate(&self, rate: &SharedRate) -> Result<Option<u64>, Error> {
        let arguments = [
            self.time.argument(),
            rate.interval_us.to_string().into_bytes(),
            rate.burst.to_string().into_bytes(),
        ];
        let answer = self.link.script(&RATE, &[keys::rate(&rate.key)], &arguments).await?;
        let wait_us: u64 = from_redis_value(answer).map_err(|_not_ours| Error::OutcomeUnknown)?;
        Ok((0 < wait_us).then(|| wait_us.div_ceil(1000)))
    }
}
