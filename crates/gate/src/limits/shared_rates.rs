//! What a purchase asks of the rates that all nodes count together.

use seckill_sale::{ActivityId, Scope, SharedRate};

use crate::limits::rate::{Limit, Rate};
use crate::{Gate, Identified, RateLimiting};

impl Gate {
    /// The user's and, unless his network is exempt, the device's. Nothing, and no allocation, where each node counts for itself.
    pub(crate) fn shared_rates(&self, identified: &Identified<'_>, activity: ActivityId) -> Vec<SharedRate> {
        if self.rate_limiting == RateLimiting::Local {
            return Vec::new();
        }
        let limits = self.limits().buy;
        let user = || format!("u:{activity}:{}", identified.user.as_str());
        let device = identified.device().filter(|_| !identified.arrived.exempt);
        let device =
            device.and_then(|device| shared(Scope::Device, limits.device, || format!("d:{}", device.as_str())));
        shared(Scope::User, limits.user, user)
            .into_iter()
            .chain(device)
            .collect()
    }
}

fn shared(scope: Scope, limit: Limit, key: impl FnOnce() -> String) -> Option<SharedRate> {
    let Limit::Rate(rate) = limit else {
        return None;
    };
    Some(SharedRate {
        scope,
        key: key(),
        interval_us: rate.interval_us(),
        burst: Rate::burst(rate).try_into().unwrap_or(u32::MAX),
    })
}
