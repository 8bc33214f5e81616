//! Permits: single use, or so many uses, of whatever a key stands for.

use redis::{Value, from_redis_value};
use seckill_sale::EpochMs;

use crate::Error;
use crate::keys;
use crate::script::PERMIT;
use crate::shared::Shared;

impl Shared {
    /// Takes a permit, and waits for as many copies of it as an admission has to have.
    pub(crate) async fn permit(&self, key: [u8; 16], max: u32, until: EpochMs) -> Result<bool, Error> {
        let key = keys::permit(key);
        let line = self.line(&key);
        let arguments = [
            self.time.argument(),
            max.to_string().into_bytes(),
            until.to_string().into_bytes(),
        ];
        let answer: Value = self
            .link
            .script(&PERMIT, std::slice::from_ref(&key), &arguments)
            .await?;
        let is_taken: u8 = from_redis_value(answer).map_err(|_not_ours| Error::OutcomeUnknown)?;
        if is_taken == 1 && !self.has_copies(line, &format!("{key}:waited")).await {
            tracing::warn!(
                "a permit has fewer copies than the durability setting asks for; whether it was taken is unknown"
            );
            return Err(Error::OutcomeUnknown);
        }
        Ok(is_taken == 1)
    }
}
